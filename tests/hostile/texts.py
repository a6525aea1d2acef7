"""Hostile texts for every field that users can write.

`zqx` marks foreign content: any element, attribute, URL, or host with this name was created by
one of these texts.
"""

#: The result if a template evaluated two of the texts below.
EVALUATED = "62674"

#: The first characters matter to URLs, spreadsheet cells, and scripts.
TEXTS = (
    "\"'><zqx-node></zqx-node><img src=/zqx onerror=alert(1)><script>alert(2)</script>",
    '" autofocus onfocus=alert(3) style="color:red" hx-get="/zqx" hx-trigger="load" zqx-attr="',
    "' onmouseover='alert(4)' hx-on::load='alert(5)' zqx-attr='",
    "</title></textarea></style></script></template><zqx-node hx-get=/zqx hx-trigger=load>",
    '<svg><a xlink:href="javascript:alert(6)"><zqx-node/></a><foreignObject><zqx-node/></svg>',
    '<div id="main" hx-swap-oob="true">zqx</div><base href="https://zqx.invalid/">',
    '<form action="https://zqx.invalid/"><input name=id><iframe srcdoc="<zqx-node>">',
    '<meta http-equiv=refresh content="0;url=https://zqx.invalid/"><link rel=stylesheet href=/zqx>',
    "javascript:alert(7)//zqx",
    "data:text/html,<script>alert(8)</script>zqx",
    "//zqx.invalid/\\zqx.invalid/../../logout",
    'https://zqx.invalid/"onclick=alert(9)',
    "{{31337|add:31337}}{% debug %}${31337*2}<%= 31337*2 %> zqx",
    '"},"zqx":{"refresh":true},"error":{"code":401}}',
    "}*{display:none}@import url(https://zqx.invalid/x.css);zqx",
    "&lt;zqx-node&gt;&#x3c;zqx-node&#x3e;%3Czqx-node%3E\\u003czqx-node\\u003e",
    "<!--zqx--!><!-- <![CDATA[<zqx-node>]]>",
    "zqx\u202e\u2066live\u200b\u200d\u2060\ufeff\x00\x1b[31m\x7f\r\n\tzqx",
    '=HYPERLINK("https://zqx.invalid/","zqx")',
    "+1+1 zqx",
    "-2+3 zqx",
    "@SUM(1+1) zqx",
    "\t=1+1 zqx",
    "zqx" * 4000,
    "Ｚｑｘ K ſ \U000e0041 zqx",
    "__proto__",
    "../../../livez?zqx",
    "",
)
#: All texts together, for code that only checks for a quote or bracket.
EVERYTHING = " ".join(text for text in TEXTS if len(text) < 1000)

#: Short enough for fields where longer texts are truncated or folded.
SHORT = "zqx\"'><zqx-node hx-get=/zqx>{{7}}</title>"

#: A valid role name for kube-apiserver: anything without `/` and `%`.
#: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names
NAME = "zqx\"'><zqx-node hx-get=x zqx-attr=1>{{7}}&lt;?a=b#c;:@\u202e=1"

"""The log page."""

import re
from html import unescape

from tests.devcluster.conftest import Api
from tests.support.responses import text_of
from tests.views.conftest import ClientAs

admin = ClientAs()("admin")


async def get(path: str, status: int = 200) -> str:
    answer = await admin.get(path)
    text = await text_of(answer)
    assert answer.status_code == status, text
    return text


def shown(html: str) -> list[str]:
    """Return the texts of the lines."""
    found = re.findall(r'<span class="log-text">(.*?)</span></li>', html, re.DOTALL)
    return [unescape(re.sub(r"<[^>]*>", "", one)) for one in found]


def written(api: Api, name: str) -> int:
    """Return the number of lines that the default container of a pod has written."""
    with api.open("GET", f"/api/v1/namespaces/default/pods/{name}/log") as response:
        return len(response.read().splitlines())

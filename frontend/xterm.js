// What terminals (static/js/terminalscreen.js) use of xterm.js; esbuild leaves out the rest.
export { FitAddon } from "@xterm/addon-fit";
export { SearchAddon } from "@xterm/addon-search";
export { SerializeAddon } from "@xterm/addon-serialize";
export { Terminal } from "@xterm/xterm";

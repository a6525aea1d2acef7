// The parts of xterm.js that terminals (static/js/terminalscreen.js) use; esbuild omits the rest.
export { FitAddon } from "@xterm/addon-fit";
export { SearchAddon } from "@xterm/addon-search";
export { SerializeAddon } from "@xterm/addon-serialize";
export { Terminal } from "@xterm/xterm";

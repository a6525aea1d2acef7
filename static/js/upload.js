// Uploads a file in pieces over a websocket, with progress. The form works without this script for small files.

const { announce } = window.quarterdeck;
const form = document.querySelector("form[data-upload-url]");

const PIECE = 60 * 1024;
/** Maximum bytes that are sent before the container accepted them. */
const WINDOW = 256 * 1024;

class Upload {
  #taken = 0;
  #sent = 0;
  #over = false;
  #reading = false;

  /** `report` receives the part that is uploaded, and `end` the final text and whether it succeeded. */
  constructor(url, file, replace, report, end) {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    Object.assign(this, { file, report, end });
    this.socket = new WebSocket(`${scheme}//${location.host}${url}`);
    this.socket.addEventListener("open", () => {
      const page = form.elements.csrfmiddlewaretoken.value;
      this.socket.send(JSON.stringify({ upload: document.documentElement.lang, page, name: file.name, size: file.size, replace }));
      this.#fill();
    });
    this.socket.addEventListener("message", ({ data }) => this.#hear(JSON.parse(data)));
    this.socket.addEventListener("close", () => this.#finish(form.dataset.lost, false));
  }

  cancel() {
    this.#finish(form.dataset.canceled, false);
    this.socket.close();
  }

  /** Send pieces in order, as long as the window allows. */
  async #fill() {
    if (this.#reading) return;
    this.#reading = true;
    while (!this.#over && this.#sent < this.file.size && this.#sent - this.#taken < WINDOW) {
      const from = this.#sent;
      this.#sent = Math.min(this.file.size, from + PIECE);
      let piece;
      try {
        piece = await this.file.slice(from, this.#sent).arrayBuffer();
      } catch {
        return this.cancel();
      }
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send(piece);
    }
    this.#reading = false;
  }

  #hear(message) {
    if (message.error) return this.#finish(message.error.message, false);
    if (message.done) return this.#finish(message.done, true);
    this.#taken = message.taken;
    this.report(this.#taken / this.file.size);
    return this.#fill();
  }

  #finish(text, done) {
    if (this.#over) return;
    this.#over = true;
    this.end(text, done);
  }
}

if (form) {
  const [state, bar, cancel] = ["state", "progress", "cancel"].map((name) => form.querySelector(`[data-upload-${name}]`));
  const button = form.querySelector("[type=submit]");
  let running = null;

  const show = (active) => {
    button.disabled = active;
    bar.hidden = cancel.hidden = !active;
  };
  const say = (text) => {
    state.textContent = text;
    announce(text);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [file] = form.elements.file.files;
    if (!file || running) return;
    if (file.size > Number(form.dataset.most)) {
      say(form.dataset.large);
      return;
    }
    show(true);
    bar.value = 0;
    state.textContent = form.dataset.progress.replace("{n}", 0);
    const report = (part) => {
      bar.value = part;
      state.textContent = form.dataset.progress.replace("{n}", Math.floor(part * 100));
    };
    running = new Upload(form.dataset.uploadUrl, file, form.elements.replace.checked, report, (text, done) => {
      running = null;
      show(false);
      say(text);
      if (done) location.reload();
    });
  });
  cancel.addEventListener("click", () => running?.cancel());
  addEventListener("pagehide", () => running?.cancel());
}

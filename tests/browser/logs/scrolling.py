"""Scroll a log in a browser."""

#: Scroll to this fraction of the lines as a user would, and return after they are rendered. A key
#: would scroll gradually.
SCROLL = """async (box, part) => {
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "PageUp" }));
  box.scrollTop = box.scrollHeight * part;
  for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame);
}"""

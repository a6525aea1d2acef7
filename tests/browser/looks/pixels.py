"""Measurements of a page's screenshot."""

import base64

from playwright.sync_api import Page

#: A pixel counts as colored if its channels differ by more than this, of 255.
_COLOURED = 48
_COUNT = """async ([data, limit]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data: pixels } = canvas.getImageData(0, 0, image.width, image.height);
  let coloured = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    const channels = [pixels[at], pixels[at + 1], pixels[at + 2]];
    if (Math.max(...channels) - Math.min(...channels) > limit) coloured += 1;
  }
  return coloured / (pixels.length / 4);
}"""


def saturated(page: Page) -> float:
    """Return the share of colored pixels in the viewport, from 0 to 1."""
    picture = base64.b64encode(page.screenshot()).decode()
    share: float = page.evaluate(_COUNT, [picture, _COLOURED])
    return share

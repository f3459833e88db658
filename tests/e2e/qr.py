"""Reads the QR code on a screen, as the camera of a phone does."""

import base64

import zxingcpp
from playwright.sync_api import Locator

GREY = """async (taken) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${taken}`)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, image.height);
    const text = Array.from({ length: data.length / 4 }, (_, n) => String.fromCharCode(data[4 * n])).join("");
    return { width: image.width, height: image.height, pixels: btoa(text) };
}"""
"""The picture as one byte for each pixel; the browser itself is the one that can read it."""


def read_qr(shown: Locator) -> str:
    """What stands in the code."""
    taken = base64.b64encode(shown.screenshot()).decode()
    browser = shown.page.context.browser
    assert browser is not None
    page = browser.new_page()  # an empty one: that of the game may not load pictures from anywhere
    try:
        grey = page.evaluate(GREY, taken)
    finally:
        page.close()
    pixels = base64.b64decode(grey["pixels"])
    [code] = zxingcpp.read_barcodes(memoryview(pixels).cast("B", shape=(grey["height"], grey["width"])))
    return str(code.text)

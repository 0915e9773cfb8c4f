"""Headless Chromium for tests of pages: started with nothing of the user's, allowed to reach nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM = "/usr/bin/chromium"
DRIVER = "/usr/bin/chromedriver"
_PACKAGES = "Debian's packages chromium and chromium-driver"
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_PATIENCE_S = 60.0
_GESTURE_S = 3.0


def require_chromium() -> None:
    """Skip where there is no Chromium; where CI runs, its absence is a failure."""
    missing = [path for path in (CHROMIUM, DRIVER) if shutil.which(path) is None]
    if not missing:
        return
    told = f"{' and '.join(missing)} missing: the tests of reports in a browser need {_PACKAGES}"
    if os.environ.get("CI"):
        pytest.fail(told, pytrace=False)
    pytest.skip(told)


class Browser:
    """A page in Chromium, with what the tests do to it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path) -> int:
        """Open a report and return how long it took until everything was drawn [ms]."""
        self.driver.get(page.resolve().as_uri())
        self.wait("return document.documentElement.dataset.ready || document.documentElement.dataset.failed")
        assert self.run("return document.documentElement.dataset.failed") is None
        return int(self.run("return document.documentElement.dataset.ready"))

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the page and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, *arguments: Any) -> Any:
        """Wait until JavaScript returns something true, and return that."""
        return self.wait_for(lambda: self.run(script, *arguments), script)

    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait until a condition is true, and return its value."""
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"waited {_PATIENCE_S:g} s in vain for: {what}")

    def wait_after(self, gesture: Callable[[], None], condition: Callable[[], Any], what: str) -> Any:
        """Make a gesture until a condition is true, and return its value.

        On a busy machine the two clicks of a double click may come too far apart, and a pointer may arrive while the
        page is being drawn: a user would try again, too.
        """
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            gesture()
            again = time.monotonic() + _GESTURE_S
            while time.monotonic() < again:
                value = condition()
                if value:
                    return value
                time.sleep(0.02)
        raise AssertionError(f"tried for {_PATIENCE_S:g} s in vain: {what}")

    def one(self, selector: str) -> WebElement:
        """Return the first element that a CSS selector matches."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements that a CSS selector matches."""
        found = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector
        )
        return list(found)

    def errors(self) -> list[str]:
        """Return what the page complained about since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def resize(self, width: int, height: int) -> None:
        """Give the page this size, as a screen would have it."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, **features: str) -> None:
        """Set what the user prefers: ``prefers_color_scheme="dark"``; what is not named is left to the browser."""
        told = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": told})


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium with an empty profile, and end it with everything it left."""
    require_chromium()
    with tempfile.TemporaryDirectory(prefix="themis-opt-chromium-", ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        try:
            yield Browser(driver)
        finally:
            driver.quit()

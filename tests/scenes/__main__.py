"""Write the scenes anew: ``scripts/scenes``."""

from tests.scenes import FOLDER, story
from tests.scenes.stories import STORIES

for name, make in STORIES.items():
    (FOLDER / f"{name}.json").write_text(story(make()), encoding="utf-8")

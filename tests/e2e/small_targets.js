// What is pressed in vain although the finger is near: targets that are lower or narrower than a fingertip.
(least) => {
    const area = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
    const words = (text) => /[\p{L}\p{N}]/u.test(text);

    // A link in the middle of a sentence may be as small as its words: larger, it would lie on others (WCAG 2.5.8, inline).
    const inSentence = (link) => {
        if (!link.matches("a") || getComputedStyle(link).display !== "inline") return false;
        let around = link.parentElement;
        while (getComputedStyle(around).display === "inline") around = around.parentElement;
        const text = document.createTreeWalker(around, NodeFilter.SHOW_TEXT);
        while (text.nextNode()) if (words(text.currentNode.data) && !text.currentNode.parentElement.closest("a, button, .hidden")) return true;
        return false;
    };

    const targets = [...area.querySelectorAll("a, button, summary, input, select, textarea")];
    return targets.filter((one) => one.checkVisibility() && !one.disabled && !inSentence(one)).flatMap((one) => {
        const labelled = one.matches("[type=checkbox], [type=radio]");
        const shown = labelled ? (one.closest("label") ?? one.parentElement) : one;
        shown.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
        const box = shown.getBoundingClientRect();
        const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
        const isHit = (over, under) => shown.contains(document.elementFromPoint(x + over, y + under));
        const name = `${one.tagName} ${one.getAttribute("aria-label") || one.textContent.trim()}`;
        // Under an open sheet or menu it is not there for now.
        if (!isHit(0, 0)) return document.elementFromPoint(x, y)?.closest(".talking.open, .narrow nav") ? [] : [`${name}: something lies on it`];
        const reach = (over, under) => {
            let far = 0;
            while (far < least && isHit(over * (far + 1), under * (far + 1))) far += 1;
            return far;
        };
        const [wide, high] = [reach(-1, 0) + reach(1, 0) + 1, reach(0, -1) + reach(0, 1) + 1];
        return Math.min(wide, high) < least - 2 ? [`${name}: ${wide} x ${high}`] : [];
    });
}

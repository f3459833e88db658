// What is wrong with a screen as it is: too wide, in English, cut off, or one thing on another, be it text or a button.
(spared) => {
    const faults = [], root = document.documentElement, dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
    const within = dialog ?? document.body;
    const name = (element) => `${element.tagName.toLowerCase()}.${element.className?.baseVal ?? element.className}`;
    const shown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const hidden = (element) => element !== null && (getComputedStyle(element).clipPath !== "none" || element.ariaHidden === "true" || hidden(element.parentElement));
    const beyond = [...within.querySelectorAll("*")].filter((one) => shown(one) && (one.getBoundingClientRect().left < -1 || one.getBoundingClientRect().right > root.clientWidth + 1));
    if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth - root.clientWidth} px too wide: ${beyond.map(name)}`);

    // Words: every letter is a strange one, and none is cut off by the box that it stands in.
    const texts = [], words = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const text = words.currentNode, element = text.parentElement, said = text.data.trim();
        if (!said || !shown(element) || element.closest("svg, style, script, [data-testid=link]")) continue;
        const foreign = element.closest("[lang=en]:not(html), code, .code, option[lang]") !== null;
        const plain = foreign ? [] : said.match(/[a-z]{3,}/gi) ?? [];
        if (plain.some((word) => !spared.includes(word) && !/^[A-Z]{4}$/.test(word))) faults.push(`in English: ${said}`);
        const range = document.createRange();
        range.selectNodeContents(text);
        const box = range.getBoundingClientRect();
        if (hidden(element) || !box.width) continue;
        texts.push({ said, element, rows: [...range.getClientRects()] });
        for (let around = element; around; around = around.parentElement) {
            const { overflowX, overflowY, position, textOverflow, webkitLineClamp } = getComputedStyle(around), its = around.getBoundingClientRect();
            // What is shortened with dots, in one line or after several, is all there in its title.
            const cuts = (overflowX === "hidden" || overflowX === "clip") && !(textOverflow === "ellipsis" && around.title);
            if (cuts && (box.left < its.left - 1.5 || box.right > its.right + 1.5)) faults.push(`cut off by ${name(around)}: ${said}`);
            const clamped = webkitLineClamp !== "none" && around.title;
            const lower = !clamped && (overflowY === "hidden" || overflowY === "clip") && (box.top < its.top - 3 || box.bottom > its.bottom + 3);
            if (lower) faults.push(`cut off below by ${name(around)}: ${said}`);
            if (overflowX !== "visible" || position === "fixed") break;
            if (around === root && (box.left < -1 || box.right > innerWidth + 1)) faults.push(`beyond the screen: ${said}`);
        }
        const press = element.closest("button, a.button, label > span, select");
        const its = press?.getBoundingClientRect();
        if (its && !(box.left > its.left - 1.5 && box.right < its.right + 1.5 && box.top > its.top - 3 && box.bottom < its.bottom + 3))
            faults.push(`larger than ${name(press)}: ${said}`);
    }

    // What can be pressed lies on nothing else that can be.
    const pressed = [...within.querySelectorAll("button, a[href], input, select, summary")].filter((one) => shown(one) && !one.closest("svg, .hidden") && one.type !== "radio");
    const parents = (one) => one === within ? [] : [one, ...parents(one.parentElement)];
    const frames = (one) => parents(one).filter((at) => getComputedStyle(at).overflowY !== "visible").map((at) => at.getBoundingClientRect());
    const clipped = (box, around) => around.reduce((box, its) => (
        { left: Math.max(box.left, its.left), right: Math.min(box.right, its.right), top: Math.max(box.top, its.top), bottom: Math.min(box.bottom, its.bottom) }
    ), box);
    const seen = (one) => clipped(one.getBoundingClientRect(), frames(one));
    const boxes = pressed.map(seen);
    const floats = (one) => parents(one).some((at) => /fixed|sticky/.test(getComputedStyle(at).position) || getComputedStyle(at).zIndex !== "auto");
    pressed.forEach((one, n) => pressed.slice(n + 1).forEach((two, m) => {
        const [a, b] = [boxes[n], boxes[n + 1 + m]];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1.5 && high > 1.5 && !one.contains(two) && !two.contains(one) && floats(one) === floats(two))
            faults.push(`${name(one)} “${one.textContent.trim()}” lies on ${name(two)} “${two.textContent.trim()}”`);
    }));
    for (const board of within.querySelectorAll("svg.board")) pressed.forEach((one, n) => {
        const [a, b] = [boxes[n], seen(board)];
        const on = Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5;
        if (on && !one.contains(board) && !floats(one) && !one.closest(".waiting")) faults.push(`${name(one)} “${one.textContent.trim()}” lies on the board`);
    });

    // Text lies on no other text, and on nothing that can be pressed. A row of letters is higher than what is drawn of it.
    const core = ({ left, right, top, bottom }) => ({ left, right, top: top + (bottom - top) * 0.25, bottom: bottom - (bottom - top) * 0.25 });
    const rows = texts.flatMap(({ said, element, rows }) => {
        const around = frames(element), above = floats(element);
        return rows.map((row) => ({ said, element, above, box: clipped(core(row), around) }));
    }).filter(({ box }) => box.right - box.left > 1.5 && box.bottom - box.top > 1.5);
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5;
    // A link may take several lines.
    const buttons = pressed.map((two) => ({ two, above: floats(two), parts: [...two.getClientRects()].map((part) => clipped(part, frames(two))) }));
    rows.forEach((one, n) => {
        for (const two of rows.slice(n + 1))
            if (one.said !== two.said && one.above === two.above && meet(one.box, two.box)) faults.push(`“${one.said}” lies on “${two.said}”`);
        for (const { two, above, parts } of buttons)
            if (above === one.above && parts.some((part) => meet(one.box, part)) && !two.contains(one.element)) faults.push(`“${one.said}” lies on ${name(two)} “${two.textContent.trim()}”`);
    });

    // Captions of a drawing stand in it, and on no other caption.
    for (const drawing of within.querySelectorAll("svg")) {
        const its = drawing.getScreenCTM(), { x, y, width, height } = drawing.viewBox.baseVal, captions = [...drawing.querySelectorAll("text")].filter(shown);
        if (!its || !width || !captions.length || drawing.parentElement.closest("svg")) continue;
        const [from, to] = [new DOMPoint(x, y).matrixTransform(its), new DOMPoint(x + width, y + height).matrixTransform(its)];
        const drawn = captions.map((text) => ({ text, said: text.textContent.trim(), box: core(text.getBoundingClientRect()) }));
        drawn.forEach(({ text, said, box }, n) => {
            if (box.left < from.x - 1.5 || box.right > to.x + 1.5 || box.top < from.y - 1.5 || box.bottom > to.y + 1.5) faults.push(`beyond its drawing: ${said}`);
            if (!text.matches(".caption")) return;
            for (const other of drawn.slice(n + 1))
                if (other.text.matches(".caption") && meet(box, other.box)) faults.push(`“${said}” is drawn on “${other.said}”`);
        });
    }
    return [...new Set(faults)];
}

# ruff: noqa: RUF001, E501 - these are the ambiguous characters
"""Characters that look like others: like a Latin letter or a digit, or whose capitals do, and a few more."""

_BY_LETTER = {
    "2": "ƨϩᒿꙅꛯꝛ",
    "3": "ȝɜʒзӡⳍꝫ𑣊𖼻𝈆",
    "4": "Ꮞ𑣏",
    "5": "𑣛",
    "6": "бᏮⳓ𑣕",
    "7": "𐓺𑣆𝈒",
    "8": "ȣ৪੪𐌚𞣋",
    "9": "৭੧୨൭ⳋꝯ𑣌𑣖",
    "a": "ɑαаᎪᗅᴀ⍺ꓮ𐊠𖽀",
    "b": "ƅʙβвьᏏᏴᑲᖯᗷꓐꞵ𐊂𐊡𐌁",
    "c": "сᏟᴄⲥꓚ𐊢𐌂𐐽𐔜𑣩𑣲🝌",
    "d": "ԁᎠᏧᑯᗞᗪᴅꓒꓓ",
    "e": "εеҽᎬᴇ℮⋿ⴹꓰꬲ𐊆𑣎",
    "f": "ϝքᖴẝꓝꞙꬵ𐊇𐊥𐔥𑣂𝈓",
    "g": "ƍɡɢԍցᏀᏳᶃꓖ",
    "h": "ʜηнһհᎻᏂᕼⲏꓧ𐋏",
    "j": "ʝϳјᎫᒍᴊꓙ",
    "k": "κкᏦᛕᴋⲕꓗ𐔘",
    "l": "|ıǀɩɪʟιіӏ١۱ᎥᏞᒪᛁ∣⍳⏽ⲓⳑⵏꓡꓲꙇ𐊊𐌉𐌠𐑃𐔦𑣃𑣒𖼖𖼨𝈪𞣇",
    "m": "μϻмᎷᗰᛖᴍⲙꓟ𐊰𐌑",
    "n": "ɴνոⲛꓠ𐔓",
    "o": "οоօ٥۵߀०০੦૦ଠ୦௦౦೦ഠ൦๐໐ဝ၀ჿዐᴏᴑⲟⵔ〇ꓳꬽ𐊒𐊫𐐬𐓪𐔖𑓐𑣈𑣗𑣠",
    "p": "ρрᏢᑭᴘ⍴ⲣꓑ𐊕",
    "q": "ԛզⵕ",
    "r": "ʀгᎡᏒᖇⲅꓣꭇꭈ𐓜𖼵𝈖",
    "s": "ƽѕտᏕᏚꓢꜱ𐊖𐑈𑣁𖼺",
    "t": "τтᎢᴛ⊤⟙ⲧꓔ𐊗𐊱𐌕𖼊🝨",
    "u": "ʋսሀᑌᴜ∪⋃ꓴꞟꭎꭒ𐓶𑣘𖽂",
    "v": "ѵ٧۷Ꮩᐯᴠ∨⋁ⴸꓦꛟ𐔝𑜆𑣀𖼈𝈍",
    "w": "ɯѡԝաᎳᏔᴡꓪ𑜊𑜎𑜏𑣦𑣯",
    "x": "×χхᕁᕽ᙭ᚷ╳⤫⤬⨯ⲭⵝꓫꭓ𐊐𐊴𐌗𐌢𐔧𑣬",
    "y": "ɣʏγυуүყᎩᎽᶌỿⲩꓬꭚ𐊲𑣜𖽃",
    "z": "ζᏃᴢꓜ𐋵𑣄𑣉𑣥",
}
"""After Unicode's list of confusables (UTS #39), without letters that look so only where they stand alone, as in
Arabic; and small capitals. Small letters are here, and of scripts without capitals all; of forms that NFKC
makes one, one. What I, 1 and l look like is one letter, and so is what O and 0 look like."""

_OF_ONE_LANGUAGE = {
    "\u064a": "\u0649\u06cc", "\u0643": "\u06a9", "\u0647": "\u06be\u06c1\u06d5",
    "エ": "工", "カ": "力", "タ": "夕", "チ": "千", "ト": "卜", "ニ": "二", "ハ": "八", "ロ": "口", "へ": "ヘ",
    "り": "リ", "ー": "一",
}  # fmt: skip
"""Those that are written side by side, or one for the other: Arabic yeh, kaf and heh; kana and ideographs."""

LOOK_ALIKES = str.maketrans(
    {
        one: taken
        for table in (_BY_LETTER, _OF_ONE_LANGUAGE)
        for taken, alike in table.items()
        for one in alike
    }
    | {"0": "o", "1": "l", "i": "l"}
)
"""Each with the character that it is taken for."""

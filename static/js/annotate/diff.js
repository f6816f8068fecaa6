// Differences between two texts, word by word, and where places of one text lie in another.

const MAX_CELLS = 400_000; // of the table of common words; longer texts are shown as replaced

/** Words, spaces and signs, which joined again give the text. @param {string} text */
export function words(text) {
  return text.match(/[\p{L}\p{N}]+(?:['’.,-][\p{L}\p{N}]+)*|\s+|[^\p{L}\p{N}\s]/gu) ?? [];
}

/** @typedef {{kind: "same" | "del" | "ins", text: string}} Piece */

/**
 * What stays, goes and comes from one text to the other, as runs of text.
 * @param {string} before @param {string} after
 * @returns {Piece[]} deletions stand before the insertions that replace them
 */
export function wordDiff(before, after) {
  const [a, b] = [words(before), words(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const middle = changes(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return joined([...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)]);
}

/**
 * Where a place of `before` lies in `after`, if one stretch was changed between them.
 * @param {string} before @param {string} after
 * @returns {(place: number, isEnd?: boolean) => number} a place inside the stretch goes to its start, or to its end
 */
export function moved(before, after) {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return (place, isEnd = false) => {
    if (place <= start) return place;
    if (place >= before.length - end) return place + after.length - before.length;
    return isEnd ? after.length - end : start;
  };
}

/** @param {string} text @returns {Piece} */
const same = (text) => ({ kind: "same", text });

/**
 * The longest common subsequence of words; where both texts changed, what went stands before what came.
 * @param {string[]} a @param {string[]} b
 * @returns {Piece[]}
 */
function changes(a, b) {
  /** @type {Piece[]} */
  const removed = a.map((text) => ({ kind: "del", text }));
  /** @type {Piece[]} */
  const added = b.map((text) => ({ kind: "ins", text }));
  if (!a.length || !b.length || a.length * b.length > MAX_CELLS) return [...removed, ...added];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  /** @type {Piece[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) [found[found.length], i, j] = [same(a[i]), i + 1, j + 1];
    else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) found.push(removed[i++]);
    else found.push(added[j++]);
  }
  return [...found, ...removed.slice(i), ...added.slice(j)];
}

/**
 * Runs of one kind in one piece; a space between two changed words counts as changed, or words would look mixed.
 * @param {Piece[]} pieces
 */
function joined(pieces) {
  /** @type {Piece[]} */
  const runs = [];
  for (let place = 0; place < pieces.length;) {
    let until = place;
    if (pieces[place].kind === "same") {
      while (until < pieces.length && pieces[until].kind === "same") until += 1;
      runs.push({ kind: "same", text: textOf(pieces.slice(place, until)) });
    } else {
      while (until < pieces.length && (pieces[until].kind !== "same" || isBetween(pieces, until))) until += 1;
      const part = pieces.slice(place, until);
      for (const kind of /** @type {const} */ (["del", "ins"])) {
        const text = textOf(part.filter((piece) => piece.kind === kind || piece.kind === "same"));
        if (part.some((piece) => piece.kind === kind)) runs.push({ kind, text });
      }
    }
    place = until;
  }
  return runs;
}

/** @param {Piece[]} pieces @param {number} place */
function isBetween(pieces, place) {
  return /^\s+$/.test(pieces[place].text) && place + 1 < pieces.length && pieces[place + 1].kind !== "same";
}

/** @param {Piece[]} pieces */
function textOf(pieces) {
  return pieces.map(({ text }) => text).join("");
}

// Where the item page stands, for the comments beside it; and going to what a comment, or the address, names.

/**
 * @typedef {{
 *   document: import("./document.js").AnnotationDocument,
 *   evidence: import("./evidence.js").Evidence,
 *   go: (place: number) => Promise<void>,
 *   word: string,
 * }} CommentedWork
 */

export class CommentPlaces {
  /** The element that was picked last on the page of the step. */
  #node = "";
  #place = 0;

  /** @param {CommentedWork} options go: shows a step; word: what a part is called here */
  constructor({ document: doc, evidence, go, word }) {
    this.doc = doc;
    this.evidence = evidence;
    this.go = go;
    this.word = word;
    evidence.onElement = (node) => this.tell(this.#place, node);
    document.addEventListener("annotate:where", () => this.tell(this.#place, this.#node));
    document.addEventListener("annotate:goto", (event) => {
      event.preventDefault();
      this.goTo(event.detail);
    });
  }

  /** Tell the comments what they can be about: the part and the step shown, and an element of its page. @param {number} place */
  tell(place, node = "") {
    this.#place = place;
    this.#node = node;
    const index = this.doc.partAt(place);
    const step = { step: this.doc.steps[place].id, name: `step ${place + 1}` };
    const part = { step: this.doc.parts[index].step, name: `${this.word} ${index + 1}` };
    const element = node ? { ...step, node, name: `element ${node} of ${step.name}` } : undefined;
    document.dispatchEvent(new CustomEvent("annotate:place", { detail: { part, step, element } }));
  }

  /** Go to a part (by its first step), a step, or an element of its page. Nothing happens where there is no such place. @param {Place} place */
  async goTo({ part, step, node }) {
    const place = this.doc.places.get(Number(part ?? step));
    if (place === undefined) return;
    if (node) this.evidence.choose("tree");
    await this.go(place);
    if (node) this.evidence.tree.point(node);
  }

  goToAddress() {
    return this.goTo(Object.fromEntries(new URLSearchParams(location.search)));
  }
}

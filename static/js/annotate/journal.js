// What has not reached the server yet, kept in this browser: it outlives the tab, the session and the network.

const NAME = "webnav-annotation";
const EDITS = "edits";
const CONFLICTS = "conflicts";

/** @typedef {{op_id: string, kind: string, step: number, field: string, before: any, after: any, proposal: number | null}} Edit */
/** @typedef {{step: number, kind: string, field: string, base: any, theirs: any, mine: any, why?: string, who?: string}} Conflict */

export class Journal {
  /** Whether what is written here outlives the tab; not where the browser forbids its database. */
  isLasting = true;
  #document;
  /** @type {IDBDatabase | null} */
  #database = null;
  #order = 0;

  /** @param {string} document names one person's annotation: nobody else's is ever read */
  constructor(document) {
    this.#document = document;
  }

  /** What was kept, oldest first. @returns {Promise<{edits: Edit[], conflicts: Conflict[]}>} */
  async open() {
    try {
      this.#database = await opened();
    } catch {
      this.isLasting = false;
      return { edits: [], conflicts: [] };
    }
    const transaction = this.#database.transaction([EDITS, CONFLICTS]);
    const rows = (/** @type {string} */ store) =>
      done(transaction.objectStore(store).index("document").getAll(this.#document));
    const [edits, conflicts] = await Promise.all([rows(EDITS), rows(CONFLICTS)]);
    edits.sort((a, b) => a.order - b.order);
    return { edits: edits.map(({ edit }) => edit), conflicts: conflicts.map(({ conflict }) => conflict) };
  }

  /** Keep an edit; `replaced`: one that it stands for from now on. @param {Edit} edit @param {Edit | null} replaced */
  add(edit, replaced = null) {
    return this.#write((edits) => {
      if (replaced) edits.delete(replaced.op_id);
      edits.put(this.#row(edit));
    });
  }

  /**
   * The server has answered for these edits; those that it could not make live on as conflicts.
   * @param {string[]} opIds
   * @param {Conflict[]} conflicts
   */
  settle(opIds, conflicts = []) {
    if (!opIds.length && !conflicts.length) return Promise.resolve();
    return this.#write((edits, kept) => {
      for (const id of opIds) edits.delete(id);
      for (const conflict of conflicts) kept.put({ key: this.#key(conflict), document: this.#document, conflict });
    });
  }

  /** A conflict was decided, by edits where something is to be written. @param {Conflict} conflict @param {Edit[]} decisions */
  decide(conflict, decisions) {
    return this.#write((edits, kept) => {
      kept.delete(this.#key(conflict));
      for (const edit of decisions) edits.put(this.#row(edit));
    });
  }

  /** @param {Edit} edit */
  #row(edit) {
    this.#order = Math.max(this.#order + 1, Date.now() * 100); // also in order when two are made in one millisecond
    return { op_id: edit.op_id, document: this.#document, order: this.#order, edit };
  }

  /** @param {Conflict} conflict */
  #key({ step, kind, field }) {
    return `${this.#document}/${step}/${kind}/${field}`;
  }

  /** @param {(edits: IDBObjectStore, kept: IDBObjectStore) => void} change */
  #write(change) {
    if (!this.#database) return Promise.resolve();
    const transaction = this.#database.transaction([EDITS, CONFLICTS], "readwrite");
    change(transaction.objectStore(EDITS), transaction.objectStore(CONFLICTS));
    return /** @type {Promise<void>} */ (
      new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = transaction.onerror = () => reject(transaction.error);
      })
    ).catch(() => {
      this.isLasting = false; // the disk is full, say; what is here is still sent
    });
  }
}

function opened() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(EDITS, { keyPath: "op_id" }).createIndex("document", "document");
    request.result.createObjectStore(CONFLICTS, { keyPath: "key" }).createIndex("document", "document");
  };
  return done(request);
}

/** @template Result @param {IDBRequest<Result>} request @returns {Promise<Result>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

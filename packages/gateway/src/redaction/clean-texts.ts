const longest = 256;
const most = 2048;

/**
 * Short texts in which nothing secret was found: names of tools, reasons, paths of a project come again and again. What
 * was clean stays so until another secret is known. Texts that did not come again for a while make room for others.
 */
export class CleanTexts {
  #recent = new Set<string>();
  #before = new Set<string>();

  has(text: string): boolean {
    if (text.length > longest) return false;
    if (this.#recent.has(text)) return true;
    if (!this.#before.has(text)) return false;
    this.add(text);
    return true;
  }

  add(text: string): void {
    if (text.length > longest) return;
    if (this.#recent.size >= most) {
      this.#before = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(text);
  }

  forget(): void {
    this.#recent.clear();
    this.#before.clear();
  }
}

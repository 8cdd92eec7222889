/** Tells when a JSON object or array that comes in pieces is whole. What comes behind it makes it broken again. */
export class JsonEnd {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #hasEnded = false;

  get isWhole(): boolean {
    return this.#hasEnded;
  }

  push(piece: string): void {
    for (let index = 0; index < piece.length; index++) this.#see(piece.charCodeAt(index));
  }

  #see(code: number): void {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === backslash) this.#isEscaped = true;
      else if (code === quote) this.#isInText = false;
      return;
    }
    if (code === space || code === tab || code === lineFeed || code === carriageReturn) return;
    this.#hasEnded = false;
    if (code === quote) this.#isInText = true;
    else if (code === openBrace || code === openBracket) this.#depth += 1;
    else if (code === closeBrace || code === closeBracket) {
      this.#depth -= 1;
      this.#hasEnded = this.#depth === 0;
    }
  }
}

const tab = 9;
const lineFeed = 10;
const carriageReturn = 13;
const space = 32;
const quote = 34;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

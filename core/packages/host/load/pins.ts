/** Who publishes a provider: the name of its package, and the author that its package.json names. */
export type Publisher = Readonly<{ packageName: string, author: string | null }>

/** To whom a provider code belongs: whoever was installed first under it, and in which folder. */
export type Pin = Publisher & Readonly<{ folder: string }>

/**
 * The pins of all codes. They decide who gets the stored secrets of a code: nobody but the publisher to whom it belongs. Only an operator
 * changes a publisher.
 */
export type Pins = {
  /** Answers the pin of a code; where it has none, it is the candidate's from now on. */
  claim: (code: string, candidate: Pin) => Promise<Pin>
}

/** Pins that last as long as the process: for hosts without a database. */
export function createMemoryPins (): Pins {
  const pins = new Map<string, Pin>()
  return {
    claim (code, candidate) {
      const pin = pins.get(code) ?? candidate
      pins.set(code, pin)
      return Promise.resolve(pin)
    }
  }
}

export function isSamePublisher (one: Publisher, other: Publisher): boolean {
  return one.packageName === other.packageName && one.author === other.author
}

/** A publisher in a sentence. */
export function publisherInWords ({ packageName, author }: Publisher): string {
  return author === null ? `the package "${packageName}" without an author` : `the package "${packageName}" by "${author}"`
}

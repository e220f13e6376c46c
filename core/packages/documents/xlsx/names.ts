/** The most characters in the name of a sheet. */
const longest = 31

/** Names of sheets that Excel accepts: without special characters, not too long, unique and not reserved. */
export function sheetNames (desired: readonly string[]): string[] {
  const taken = new Set(['history'])
  return desired.map((name, index) => {
    const clean = name.replaceAll(/[[\]:*?/\\\p{Cc}\p{Cs}\ufffe\uffff]+/gu, ' ').replaceAll(/\s+/g, ' ').replaceAll(/^[\s']+|[\s']+$/g, '')
    const free = firstFree(clean === '' ? `Sheet ${index + 1}` : clean, taken)
    taken.add(free.toLowerCase())
    return free
  })
}

function firstFree (name: string, taken: ReadonlySet<string>): string {
  for (let number = 1;; number++) {
    const suffix = number === 1 ? '' : ` (${number})`
    const candidate = cut(name, longest - suffix.length) + suffix
    if (!taken.has(candidate.toLowerCase())) return candidate
  }
}

/** The cut leaves no half of a surrogate pair, and no apostrophe at the end. */
function cut (name: string, length: number): string {
  return name.slice(0, length).replace(/\p{Cs}$/u, '').replace(/[\s']+$/, '')
}

/** What somebody else has written, such as the reason of a revocation, as a sentence that another one may follow. */
export function asSentence (text: string): string {
  const written = text.trim()
  return written === '' || /[.!?…。][)"”’»\s]*$/.test(written) ? written : `${written}.`
}

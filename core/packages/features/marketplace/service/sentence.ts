/** Ends a text of somebody else, such as the reason for a revocation, like a sentence, so that another one can follow. */
export function asSentence (text: string): string {
  const written = text.trim()
  return written === '' || /[.!?…。][)"”’»\s]*$/.test(written) ? written : `${written}.`
}

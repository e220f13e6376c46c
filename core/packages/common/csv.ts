/** A value as a cell of CSV (RFC 4180). What a spreadsheet would take for a formula has an apostrophe before it. */
export function csvCell (text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** What separates the cells of a CSV file: what its heading has most of, commas, semicolons or tabs. */
export function delimiterOf (beginning: string): string {
  const [heading = ''] = beginning.trimStart().replaceAll(/"[^"]*"/g, '').split(/[\r\n]/, 1)
  const counts = [',', ';', '\t'].map((sign) => ({ sign, count: heading.split(sign).length }))
  return counts.sort((one, other) => other.count - one.count)[0]?.sign ?? ','
}

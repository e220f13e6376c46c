/** A value as a cell of CSV (RFC 4180). What a spreadsheet would take for a formula has an apostrophe before it. */
export function csvCell (text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** What XML 1.0 has no characters for (2.2): controls but tab and line breaks, halves of surrogate pairs, two non-characters. */
// eslint-disable-next-line no-control-regex -- Control characters are what is looked for.
const illegal = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text for the content or an attribute of an XML element; a character that XML cannot have becomes the sign for what cannot be shown. */
export function escapeXml (text: string): string {
  return text.replace(illegal, '\ufffd').replace(/[&<>"]/g, (character) => entities[character] ?? character)
}

const word = /=\?([A-Za-z0-9-]{1,40})(?:\*[A-Za-z-]{1,20})?\?([BbQq])\?([^?\s]{0,1000})\?=(?:\s+(?==\?))?/g

/**
 * A text whose encoded words (RFC 2047) are decoded, which .NET and PowerShell write in place of names that are not ASCII. What cannot be
 * decoded stays as it is.
 */
export function decodedWords (text: string): string {
  return text.replaceAll(word, (whole: string, charset: string, encoding: string, content: string) => {
    try {
      return new TextDecoder(charset, { fatal: true }).decode(
        encoding.toUpperCase() === 'B' ? Buffer.from(content, 'base64') : bytesOf(content)
      )
    } catch {
      return whole
    }
  })
}

/** The bytes of the Q encoding: `_` is a space, `=C3` a byte. */
function bytesOf (content: string): Buffer {
  const plain = content.replaceAll('_', ' ').replaceAll(/=([0-9A-Fa-f]{2})/g, (_, byte: string) => String.fromCharCode(parseInt(byte, 16)))
  return Buffer.from(plain, 'latin1')
}

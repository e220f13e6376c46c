/** A UUID (RFC 9562, section 4), in capital or small letters. */
export const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Whether a text is a UUID as the service writes it: in small letters. */
export function isUuid (text: string): boolean {
  return uuidPattern.test(text) && text === text.toLowerCase()
}

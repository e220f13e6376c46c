/** A UUID (RFC 9562, section 4), in upper or lower case. */
export const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Whether a text is a UUID in the service's form: lower case. */
export function isUuid (text: string): boolean {
  return uuidPattern.test(text) && text === text.toLowerCase()
}

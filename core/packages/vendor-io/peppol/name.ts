import { hash } from 'node:crypto'

/** The scheme of participants in Peppol: ISO 6523, as its code list has it. */
export const participantScheme = 'iso6523-actorid-upis'

/** An id of a participant as it is compared: Peppol's ids have no upper case. */
export function participantOf ({ scheme, id }: { scheme: string, id: string }): string {
  return `${scheme}:${id}`.toLowerCase()
}

/** The DNS name under which a zone has where a participant publishes (Peppol Policy for use of Identifiers; OASIS BDXL, 2.2). */
export function zoneName (participant: string, zone: string): string {
  return `${base32(hash('sha256', participant, 'buffer'))}.${participantScheme}.${zone}`
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648, without padding. */
function base32 (bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => letters[parseInt(five.padEnd(5, '0'), 2)]).join('')
}

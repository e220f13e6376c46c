import { Secret, TOTP } from 'otpauth'

/** Time-based one-time passwords (RFC 6238) with what every app understands: SHA-1, six digits, steps of 30 seconds. */
const rules = { issuer: 'Document Dispatch', algorithm: 'SHA1', digits: 6, period: 30 } as const

/** Steps before and after the present one whose codes count too: clocks differ, and people type slowly. */
const window = 1

/** A new secret of 160 bits (RFC 4226, 4) in base32. */
export function makeTotpSecret (): string {
  return new Secret({ size: 20 }).base32
}

/** The address by which an app takes a secret in, mostly as a QR code. */
export function totpUri (secret: string, email: string): string {
  return new TOTP({ ...rules, secret, label: email }).toString()
}

/** Whether a text has the form of a code. */
export function isTotpCode (text: string): boolean {
  return /^\d{6}$/.test(text)
}

/** The time step of a code, in steps since 1970; undefined for a code that is wrong, or not of this time. Compares in constant time. */
export function totpStep (secret: string, code: string, at: Date): number | undefined {
  const totp = new TOTP({ ...rules, secret })
  const timestamp = at.getTime()
  const delta = isTotpCode(code) ? totp.validate({ token: code, timestamp, window }) : null
  return delta === null ? undefined : totp.counter({ timestamp }) + delta
}

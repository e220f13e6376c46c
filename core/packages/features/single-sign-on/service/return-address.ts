import { hash } from 'node:crypto'

/**
 * The name of the address to which an issuer sends the people of a company back: one for each company and issuer, so that a code that
 * comes to it is redeemed at no other issuer (RFC 9700, 4.4.2). It is the same whenever the issuer is set, and no secret.
 */
export function addressNameOf (companyId: number, issuer: string): string {
  return hash('sha256', JSON.stringify(['sign-on', companyId, issuer])).slice(0, 32)
}

/** The return address of a name; without one, the address that all companies shared. */
export function returnAddressOf (publicUrl: string, name?: string): string {
  const shared = `${publicUrl}/console/sign-on/callback`
  return name === undefined ? shared : `${shared}/${name}`
}

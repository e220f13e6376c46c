import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto'

/** How an answer may differ from what was asked: the origin of the page, the relying party, the user who was not verified, the count. */
type Deviation = { origin?: string, party?: string, verified?: boolean, counter?: number, userHandle?: string }

const present = 0x01
const verifiedUser = 0x04
const withCredential = 0x40

/** An authenticator in software with one passkey (ES256, attestation `none`), as a browser at `origin` would use it. */
export function createAuthenticator (origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credential = randomBytes(16)
  let [count, handle] = [0, '']

  const clientData = (type: string, challenge: string, from: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin: from, crossOrigin: false }))
  function authData (party: string, flags: number, counter: number, more = Buffer.alloc(0)): Buffer {
    const counted = Buffer.alloc(4)
    counted.writeUInt32BE(counter)
    return Buffer.concat([hash('sha256', party, 'buffer'), Buffer.from([flags]), counted, more])
  }
  const id = credential.toString('base64url')
  const named = { id, rawId: id, type: 'public-key' }

  return {
    /** What `navigator.credentials.create()` answers to options of the API. */
    create ({ challenge, rp, user }: any, { origin: from = origin, party = rp.id, verified = true, counter = 0 }: Deviation = {}) {
      handle = user.id as string
      const key = Buffer.concat([Buffer.from('a5010203262001', 'hex'), Buffer.from([0x21]), bytes(fromBase64(x)), Buffer.from([0x22]),
        bytes(fromBase64(y))])
      const more = Buffer.concat([Buffer.alloc(16), Buffer.from([0, credential.length]), credential, key])
      const data = authData(party, present | withCredential | (verified ? verifiedUser : 0), counter, more)
      const attestation = Buffer.concat([Buffer.from([0xa3]), text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0]),
        text('authData'), bytes(data)])
      return {
        ...named,
        response: {
          clientDataJSON: clientData('webauthn.create', challenge as string, from).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal']
        }
      }
    },

    /** What `navigator.credentials.get()` answers, as JSON. */
    get ({ challenge, rpId }: any, { origin: from = origin, party = rpId, verified = true, counter, userHandle = handle }: Deviation = {}) {
      const client = clientData('webauthn.get', challenge as string, from)
      const data = authData(party, present | (verified ? verifiedUser : 0), counter ?? ++count)
      const signature = sign('sha256', Buffer.concat([data, hash('sha256', client, 'buffer')]), privateKey)
      return JSON.stringify({
        ...named,
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle
        }
      })
    }
  }
}

const fromBase64 = (encoded: string): Buffer => Buffer.from(encoded, 'base64url')

/** A byte string and a short text in CBOR (RFC 8949). */
function bytes (value: Buffer): Buffer {
  const { length } = value
  return Buffer.concat([Buffer.from(length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255]), value])
}

function text (value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 | value.length]), Buffer.from(value)])
}

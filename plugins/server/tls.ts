import type { Log } from '@dispatch/core'
import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'

/** A certificate with its chain, and its private key, in PEM. */
export type CertificatePair = { cert: string, key: string }

/** A pair cannot be used. The message is one sentence for the operator. */
export class CertificateError extends Error {
  override name = 'CertificateError'
}

/** Mozilla's "intermediate" list of 2025 without finite-field Diffie-Hellman: forward secrecy and authenticated encryption only. */
const ciphers = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305'].join(':')

/** How the service speaks TLS with a pair. */
export function secureOptions (pair: CertificatePair): SecureContextOptions {
  // A renegotiation costs the server more than the client.
  return { ...pair, minVersion: 'TLSv1.2', ciphers, secureOptions: constants.SSL_OP_NO_RENEGOTIATION }
}

/** Reads a pair and tries it. Throws a {@link CertificateError}. */
export async function readCertificatePair (files: CertificatePair): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([readPem(files.cert), readPem(files.key)])
  try {
    createSecureContext(secureOptions({ cert, key }))
    // A context may lack either.
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) throw new Error('key values mismatch')
  } catch (cause) {
    throw new CertificateError(
      `The certificate ${files.cert} and the key ${files.key} cannot be used together (${reasonOf(cause)}): they must be a pair in ` +
        'PEM, the key without a passphrase.',
      { cause }
    )
  }
  return { cert, key }
}

async function readPem (file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CertificateError(`${file} cannot be read (${codeOf(cause)}).`, { cause })
  })
}

function codeOf (cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
}

/** OpenSSL's own word, without its addresses. */
function reasonOf (cause: unknown): string {
  return cause instanceof Error ? cause.message.split(':').at(-1) ?? '' : String(cause)
}

export type Renewal = {
  /** Looks at once; the pair that is used from now on, if it is another. */
  look: () => Promise<void>
  stop: () => void
}

type Watching = {
  files: CertificatePair
  current: CertificatePair
  use: (pair: CertificatePair) => void
  log: Pick<Log, 'info' | 'warn'>
  now: () => Date
  every: number
}

/**
 * Looks every so many milliseconds whether the files hold another pair, and hands on one that is good: files that are being
 * written, do not belong together or have expired change nothing. What is read counts, so that it does not matter whether files
 * are overwritten, renamed or linked anew.
 */
export function watchCertificatePair ({ files, current, use, log, now, every }: Watching): Renewal {
  let used = current
  let told = ''
  async function look (): Promise<void> {
    try {
      const pair = await readCertificatePair(files)
      if (pair.cert === used.cert && pair.key === used.key) return
      const { validTo, subject } = new X509Certificate(pair.cert)
      if (new Date(validTo) <= now()) throw new CertificateError(`The certificate ${files.cert} has expired (${validTo}).`)
      use(pair)
      used = pair
      told = ''
      log.info({ subject, validTo }, 'the certificate was renewed')
    } catch (error) {
      // Once for each thing that is wrong, not with every look.
      const sentence = String(error)
      if (sentence !== told) log.warn({ err: error }, 'the certificate could not be renewed; the one before stays in use')
      told = sentence
    }
  }
  const timer = setInterval(() => {
    void look()
  }, every).unref()
  return {
    look,
    stop: () => {
      clearInterval(timer)
    }
  }
}

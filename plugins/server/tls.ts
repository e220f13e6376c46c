import type { Log } from '@dispatch/common'
import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'

/** A certificate with its chain, and its private key, in PEM. */
export type CertificatePair = { cert: string, key: string }

/** A certificate pair cannot be used. The message is one sentence for the operator. */
export class CertificateError extends Error {
  override name = 'CertificateError'
}

/** Mozilla's "intermediate" list of 2025 without finite-field Diffie-Hellman: forward secrecy and authenticated encryption only. */
const ciphers = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305'].join(':')

/** The TLS options for a certificate pair. */
export function secureOptions (pair: CertificatePair): SecureContextOptions {
  // Renegotiation is off: it costs the server more than the client.
  return { ...pair, minVersion: 'TLSv1.2', ciphers, secureOptions: constants.SSL_OP_NO_RENEGOTIATION }
}

/** Reads a certificate pair and checks that it can be used. Throws a {@link CertificateError}. */
export async function readCertificatePair (files: CertificatePair): Promise<CertificatePair> {
  const [cert, key] = await Promise.all([readPem(files.cert), readPem(files.key)])
  try {
    createSecureContext(secureOptions({ cert, key }))
    // Creating the context does not check that certificate and key belong together.
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

/** The reason that OpenSSL gives, without its error code. */
function reasonOf (cause: unknown): string {
  return cause instanceof Error ? cause.message.split(':').at(-1) ?? '' : String(cause)
}

export type Renewal = {
  /** Checks the files at once and starts to use a new pair. */
  check: () => Promise<void>
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
 * Checks every `every` milliseconds whether the files hold another certificate pair, and passes a valid one to `use`. Nothing changes while
 * the files are incomplete, do not belong together, or have expired. It compares the content, so files may be overwritten, renamed or
 * linked anew.
 */
export function watchCertificatePair ({ files, current, use, log, now, every }: Watching): Renewal {
  let used = current
  let reported = ''
  async function check (): Promise<void> {
    try {
      const pair = await readCertificatePair(files)
      if (pair.cert === used.cert && pair.key === used.key) return
      const { validTo, subject } = new X509Certificate(pair.cert)
      if (new Date(validTo) <= now()) throw new CertificateError(`The certificate ${files.cert} has expired (${validTo}).`)
      use(pair)
      used = pair
      reported = ''
      log.info({ subject, validTo }, 'the certificate was renewed')
    } catch (error) {
      // Each problem is logged once, not at every check.
      const sentence = String(error)
      if (sentence !== reported) log.warn({ err: error }, 'the certificate could not be renewed; the one before stays in use')
      reported = sentence
    }
  }
  const timer = setInterval(() => {
    void check()
  }, every).unref()
  return {
    check,
    stop: () => {
      clearInterval(timer)
    }
  }
}

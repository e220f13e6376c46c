import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect, type ConnectionOptions, TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { type Authority, type Certificate, createAuthority } from '../../core/packages/conformance/vendor/certificates.ts'
import type { Config } from '../../plugins/config/config.ts'

/** The files of a certificate in a temporary folder, as an operator has them. */
export type CertificateFiles = { authority: Authority, config: Pick<Config, 'tls'>, write: (certificate: Partial<Certificate>) => void }

export async function certificateFiles (t: Test): Promise<CertificateFiles> {
  const folder = t.testdir()
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const authority = await createAuthority()
  const write: CertificateFiles['write'] = ({ cert, key }) => {
    if (key !== undefined) writeFileSync(files.key, key, { mode: 0o600 })
    if (cert !== undefined) writeFileSync(files.cert, cert)
  }
  write(await authority.issue('127.0.0.1', 'localhost'))
  return { authority, config: { tls: files }, write }
}

/** The handshake, or the code of the error that it ends with. */
export async function handshake (port: number, options: ConnectionOptions): Promise<TLSSocket | string> {
  const socket = connect({ port, host: '127.0.0.1', ...options })
  return new Promise((resolve) => {
    socket.once('secureConnect', () => {
      resolve(socket)
    }).on('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.message)
    })
  })
}

/** A request over HTTPS on a connection of its own. */
export async function fetchSecurely (
  url: string,
  ca: string,
  { method = 'GET', headers = {}, body }: { method?: string, headers?: Record<string, string>, body?: string } = {}
) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number, headers: Headers, body: string, serial: string }>()
  const sent = request(url, { method, headers, ca, agent: false }, (response) => {
    const serial = response.socket instanceof TLSSocket ? response.socket.getPeerCertificate().serialNumber : ''
    text(response).then((body) => {
      resolve({ status: response.statusCode ?? 0, headers: new Headers(response.headers as Record<string, string>), body, serial })
    }, reject)
  })
  sent.on('error', reject).end(body)
  return promise
}

import type { Body } from './body.ts'

/** The credentials of a signature for AWS and for compatible services such as S3. */
export type SigV4 = { accessKeyId: string, secretAccessKey: string, sessionToken?: string, region: string, service: string }

/** A request before it is signed. */
export type Unsigned = { method: string, url: URL, headers: Record<string, string>, body: Body }

/**
 * The signing headers of a request (AWS Signature Version 4); they cover every header of it. A body whose hash is not known before sending
 * is not signed. TLS protects it.
 */
export async function signRequest (keys: SigV4, { method, url, headers, body }: Unsigned, now: Date): Promise<Record<string, string>> {
  const { AwsV4Signer } = await import('aws4fetch')
  const signer = new AwsV4Signer({
    ...keys,
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': body.sha256?.() ?? 'UNSIGNED-PAYLOAD' },
    datetime: now.toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
    allHeaders: true
  })
  const signed = await signer.sign()
  signed.headers.delete('host')
  return Object.fromEntries(signed.headers)
}

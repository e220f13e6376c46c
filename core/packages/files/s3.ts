import type { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import type { Upload } from '@aws-sdk/lib-storage'
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { FileDamaged, StorageUnavailable } from './errors.ts'
import { checkedStream, draftEnding, type FileStore, measure, measured, missing, mustBeSame, noKeys, sealing, sealingStream,
  type StoredFile } from './files.ts'
import { type FileKeys, opened } from './sealing.ts'

/** A bucket for documents, of Amazon S3 or of a server that speaks its protocol. */
export type Bucket = {
  name: string
  /** Before each key: empty, or ends in `/`. */
  prefix: string
  region: string
  /** The server's address; without it Amazon's of the region. */
  endpoint?: string
  /** Whether requests name the bucket in their path, not in their host. */
  pathStyle: boolean
  /** How the server is asked to encrypt; without it, it does as the bucket says. */
  encryption?: { algorithm: 'AES256' | 'aws:kms', keyId?: string }
  /** Without them the chain of AWS: environment, shared files, web identity, container, machine. */
  credentials?: { accessKeyId: string, secretAccessKey: string }
}

/** Bytes of a part of a large document; S3 takes none below 5 MiB but the last. */
const partSize = 8 * 1024 * 1024

/** Milliseconds to connect, and without a byte; each request is tried three times in all. */
const timeouts = { connectionTimeout: 5_000, requestTimeout: 30_000, throwOnRequestTimeout: true }

/**
 * `folder`: where a document lies on this machine while it is checked. `keys`: what seals files; none is sealed without. `variable`: the
 * setting that names the bucket, for the operator.
 */
type Options = {
  bucket: Bucket
  folder: string
  log: Record<'error', (facts: object, message: string) => void>
  keys?: FileKeys | undefined
  variable?: string
}

/** The library is large: only a process that stores in a bucket loads it. */
type Opened = typeof import('@aws-sdk/client-s3') & { client: S3Client, Upload: typeof Upload }

type Access = ReturnType<typeof openAccess>

/** `on` asks the bucket. `place` and `keyOf`: a file's key here and there. `begun`: uploads below a key that have not ended. */
function openAccess ({ bucket, log }: Pick<Options, 'bucket' | 'log'>) {
  const { name: Bucket, prefix } = bucket
  const place = (key: string): { Bucket: string, Key: string } => ({ Bucket, Key: prefix + key })
  const keyOf = (Key = ''): string => Key.slice(prefix.length)
  let library: Promise<Opened> | undefined
  /** Runs work on the bucket. `theirs`: an error that is not the bucket's. */
  async function on<Result> (work: (s3: Opened) => Promise<Result>, theirs: (error: unknown) => boolean = () => false): Promise<Result> {
    try {
      return await work(await (library ??= openClient(bucket)))
    } catch (error) {
      if (error instanceof FileDamaged || error instanceof StorageUnavailable || theirs(error)) throw error
      log.error({ bucket: Bucket, ...toldBy(error) }, 'the storage of documents did not do what it was asked')
      throw new StorageUnavailable('away', error)
    }
  }

  /** The uploads below a key that were begun and have not ended. */
  async function begun ({ client, ListMultipartUploadsCommand }: Opened, below: string): Promise<{ key: string, UploadId: string }[]> {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: prefix + below }))
    return Uploads.flatMap(({ Key, UploadId }) => UploadId === undefined ? [] : [{ key: keyOf(Key), UploadId }])
  }

  return { on, place, keyOf, begun, library: () => library ??= openClient(bucket) }
}

async function read (place: Access['place'], { client, GetObjectCommand, NoSuchKey }: Opened, file: StoredFile): Promise<Readable> {
  const { Body } = await client.send(new GetObjectCommand(place(file.key))).catch((error: unknown) => {
    throw error instanceof NoSuchKey ? missing(file.key, error) : error
  })
  if (!(Body instanceof Readable)) throw new Error('The answer has no body.')
  return Body
}

/**
 * Keeps files in a bucket. The server proves a checksum of each file, or of each part of a large one, before it keeps it. Where it cannot
 * be reached or refuses, the log says why, and a StorageUnavailable is thrown.
 */
export function createS3Files ({ bucket, folder, log, keys = noKeys, variable = 'DISPATCH_STORAGE' }: Options): FileStore {
  const { name: Bucket, prefix } = bucket
  const { on, place, keyOf, begun, library } = openAccess({ bucket, log })
  const requested = {
    ChecksumAlgorithm: 'SHA256',
    ...bucket.encryption === undefined ? {} : { ServerSideEncryption: bucket.encryption.algorithm },
    ...bucket.encryption?.keyId === undefined ? {} : { SSEKMSKeyId: bucket.encryption.keyId }
  } as const

  return {
    async ready () {
      try {
        const { client, ListObjectsV2Command } = await library()
        await client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 1 }))
      } catch (cause) {
        const { reason, status } = toldBy(cause)
        throw new Error(`The bucket "${Bucket}" of ${variable} cannot be used: ${reason}${status === undefined ? '' : ` (${status})`}`, {
          cause
        })
      }
    },
    read: (key) =>
      on(async ({ client, GetObjectCommand, NoSuchKey }) => {
        try {
          const { Body } = await client.send(new GetObjectCommand(place(key)))
          return await Body?.transformToByteArray()
        } catch (error) {
          if (error instanceof NoSuchKey) return undefined
          throw error
        }
      }),
    async put (key, bytes) {
      const Body = await sealing(keys, key, bytes)
      await on(async ({ client, PutObjectCommand }) => {
        await client.send(new PutObjectCommand({ ...place(key), ...requested, Body }))
      })
    },
    async receive (key, bytes) {
      const { pieces, found } = measured(bytes)
      const params = { ...place(key), ...requested, Body: Readable.from(await sealingStream(keys, key, pieces), { objectMode: false }) }
      // What ends the stream is not the bucket's fault.
      await on(({ client, Upload }) => new Upload({ client, params, partSize, queueSize: 2 }).done(), (error) => error === bytes.errored)
      return found()
    },
    stream: (file) => on(async (s3) => checkedStream(keys, file, await spooled(await read(place, s3, file), folder))),
    check: (file) =>
      on(async (s3) => {
        mustBeSame(file, await measure(opened(keys.find, file.key, await read(place, s3, file))))
      }),
    remove: (key) =>
      on(async (s3) => {
        const { client, AbortMultipartUploadCommand, DeleteObjectCommand } = s3
        if (!key.endsWith(draftEnding)) {
          await client.send(new DeleteObjectCommand(place(key)))
          return
        }
        const draft = key.slice(0, -draftEnding.length)
        for (const { UploadId } of (await begun(s3, draft)).filter((upload) => upload.key === draft)) {
          await client.send(new AbortMultipartUploadCommand({ ...place(draft), UploadId }))
        }
      }),
    list: (below) =>
      on(async (s3) => {
        const found: string[] = []
        const pages = s3.paginateListObjectsV2({ client: s3.client }, { Bucket, Prefix: `${prefix}${below}/`, Delimiter: '/' })
        for await (const { Contents = [] } of pages) found.push(...Contents.map(({ Key }) => keyOf(Key)))
        return [...found, ...(await begun(s3, `${below}/`)).map(({ key }) => key + draftEnding)]
      }),
    listBelow: (below) =>
      on(async (s3) => {
        const found: string[] = []
        const pages = s3.paginateListObjectsV2({ client: s3.client }, { Bucket, Prefix: `${prefix}${below}/` })
        for await (const { Contents = [] } of pages) found.push(...Contents.map(({ Key }) => keyOf(Key)))
        return found
      }),
    removeBelow: (below) =>
      on(async (s3) => {
        const { client, AbortMultipartUploadCommand, DeleteObjectsCommand } = s3
        const pages = s3.paginateListObjectsV2({ client }, { Bucket, Prefix: `${prefix}${below}/` })
        for await (const { Contents = [] } of pages) {
          if (Contents.length === 0) continue
          const Objects = Contents.map(({ Key }) => ({ Key }))
          const { Errors: [refused] = [] } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }))
          if (refused !== undefined) throw new Error(`${refused.Key} was not deleted: ${refused.Code}.`)
        }
        for (const { key, UploadId } of await begun(s3, `${below}/`)) {
          await client.send(new AbortMultipartUploadCommand({ ...place(key), UploadId }))
        }
      })
  }
}

async function openClient ({ region, endpoint, pathStyle, credentials }: Bucket): Promise<Opened> {
  const [sdk, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')])
  const client = new sdk.S3Client({
    region,
    forcePathStyle: pathStyle,
    requestHandler: timeouts,
    // Servers beside Amazon's do not know the checksums that the library adds by itself. Ours are asked for.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...endpoint === undefined ? {} : { endpoint },
    ...credentials === undefined ? {} : { credentials }
  })
  return { ...sdk, client, Upload }
}

/** What the log says of a failure. */
function toldBy (error: unknown): { reason: string, status?: number | undefined, requestId?: string | undefined } {
  if (!(error instanceof Error)) return { reason: String(error) }
  const { $metadata } = error as Partial<S3ServiceException>
  return {
    reason: `${error.name}: ${error.message}`,
    ...$metadata === undefined ? {} : { status: $metadata.httpStatusCode, requestId: $metadata.requestId }
  }
}

/** Brings a document to this machine, where all of its bytes are checked. Its file has no name any more, and goes with its handle. */
async function spooled (bytes: Readable, folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, randomUUID())
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    for await (const piece of bytes as AsyncIterable<Uint8Array>) await handle.writeFile(piece)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

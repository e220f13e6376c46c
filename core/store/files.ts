import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { Disk } from 'flydrive'
import { FSDriver } from 'flydrive/drivers/fs'

/** Where the bytes of documents lie. Keys are paths of our own making. */
export type Files = {
  /** Resolves when the bytes would survive a loss of power. */
  put: (key: string, bytes: Uint8Array) => Promise<void>
  /** Throws when there is nothing under the key. */
  bytes: (key: string) => Promise<Uint8Array>
  stream: (key: string) => Promise<Readable>
}

/** Keeps files below a folder. */
export function createLocalFiles (folder: string): Files {
  const disk = new Disk(new FSDriver({ location: pathToFileURL(`${folder}/`), visibility: 'private' }))
  return {
    async put (key, bytes) {
      await disk.put(key, bytes)
      await sync(join(folder, key))
    },
    bytes: (key) => disk.getBytes(key),
    stream: (key) => disk.getStream(key)
  }
}

/** Flushes a file's contents to the disk: what the database says is there must be there after a power cut. */
async function sync (path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.datasync()
  } finally {
    await file.close()
  }
}

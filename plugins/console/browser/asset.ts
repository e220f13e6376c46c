import { hash } from 'node:crypto'
import { precompress, type Precompressed } from '../../hooks/precompressed.ts'

/** A file of the console, which is the same for everybody. Its address has a part of its hash: browsers keep it until it changes. */
export type Asset = Precompressed & { path: string }

export function assetOf (bytes: Buffer, folder: string, extension: 'css' | 'js'): Asset {
  return { ...precompress(bytes), path: `${folder}/${hash('sha256', bytes).slice(0, 12)}.${extension}` }
}

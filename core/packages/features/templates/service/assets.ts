import type { AuditAuthor } from '@dispatch/accounts'
import { refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { TemplateWorkers } from '@dispatch/documents'
import type { AssetBody, AssetUseView, AssetView } from '../contract/templates.ts'
import { addAsset, type Asset, type AssetFacts, listAssets, listAssetUses, readAssets, removeAsset, replaceAsset } from '../store/assets.ts'
import type { ChangeContext } from '../store/template-changes.ts'

/** Bytes of a picture as it is kept: it goes into each version that shows it, and into each document. */
const largest = 512 * 1024

/** The pictures of companies for their templates; whoever changes them does it for their own company. */
export type Assets = {
  /** By name. */
  list: (companyId: number, page: { limit: number, after?: string }) => Promise<AssetView[]>
  /** The picture as it is kept, and its media type; undefined when there is none of the name. */
  read: (companyId: number, name: string) => Promise<{ type: string, bytes: Buffer } | undefined>
  /**
   * Stores a picture, flattened and bounded. Throws `validation_failed` for what is no picture, `conflict` when the name is taken or the
   * company has too many.
   */
  store: (author: AuditAuthor, asset: AssetBody) => Promise<AssetView>
  /** Stores another picture under the name of one; versions of templates keep theirs. Undefined when there is none of the name. */
  replace: (author: AuditAuthor, asset: AssetBody) => Promise<AssetView | undefined>
  /** The templates whose text names a picture, in the version in use or the newest one. */
  uses: (companyId: number, name: string) => Promise<AssetUseView[]>
  /** Removes a picture; versions of templates that show it keep theirs. Answers whether there was one. */
  remove: (author: AuditAuthor, name: string) => Promise<boolean>
}

type Options = { database: Database, workers: TemplateWorkers, now: () => Date }

/** The pictures of companies. Throws `validation_failed` for one that cannot be read or is too large. */
export function createAssets ({ database, workers, now }: Options): Assets {
  const changeBy = (author: AuditAuthor): ChangeContext => ({ companyId: author.companyId, author, at: now() })
  return {
    list: async (companyId, page) => (await listAssets(database, companyId, page)).map(viewOf),

    async read (companyId, name) {
      const [asset] = await readAssets(database, companyId, [name])
      const [, type, base64] = /^data:([^;]+);base64,(.*)$/s.exec(asset?.uri ?? '') ?? []
      return type === undefined || base64 === undefined ? undefined : { type, bytes: Buffer.from(base64, 'base64') }
    },

    async store (author, { name, image }) {
      const { bytes, ...picture } = await flattened(workers, author.companyId, image)
      return viewOf(await addAsset(database, changeBy(author), { name, bytes, ...picture }))
    },

    async replace (author, { name, image }) {
      const { bytes, ...picture } = await flattened(workers, author.companyId, image)
      const replaced = await replaceAsset(database, changeBy(author), { name, bytes, ...picture })
      return replaced && viewOf(replaced)
    },

    async uses (companyId, name) {
      const found = await listAssetUses(database, companyId, name)
      return found.map(({ id, name, version, present }) => ({ templateId: id, name, version, published: present }))
    },

    remove: (author, name) => removeAsset(database, changeBy(author), name)
  }
}

/** A picture as it is kept, and its size in bytes. */
async function flattened (
  workers: TemplateWorkers,
  companyId: number,
  image: string
): Promise<Pick<Asset, 'uri' | 'width' | 'height'> & { bytes: number }> {
  const picture = await workers.flatten(companyId, image)
  if ('fault' in picture) throw refusal('validation_failed', [{ path: '/image', code: 'bad_image', message: picture.fault }])
  const bytes = Buffer.from(picture.uri.slice(picture.uri.indexOf(',') + 1), 'base64').byteLength
  if (bytes > largest) {
    throw refusal('validation_failed', [{
      path: '/image',
      code: 'too_large',
      message: `The picture has ${bytes} bytes; at most ${largest} are permitted: make it smaller, or send it as a JPEG.`
    }])
  }
  return { bytes, ...picture }
}

function viewOf ({ name, type, width, height, size, sha256, created_at: createdAt }: AssetFacts): AssetView {
  return { name, type, width, height, size, sha256, createdAt: createdAt.toISOString() }
}

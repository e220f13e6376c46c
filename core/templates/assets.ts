import type { TemplateWorkers } from '@dispatch/documents'
import { refusal } from '../contract/errors.ts'
import type { AssetBody } from '../contract/templates.ts'
import type { Database } from '../store/db/database.ts'
import { addAsset, type AssetFacts } from '../store/templates/assets.ts'
import type { ChangeContext } from '../store/templates/template-changes.ts'

/** Bytes of a picture as it is kept: it goes into each version that shows it, and into each document. */
const largest = 512 * 1024

/**
 * Stores a picture of a company, flattened and bounded. Throws `validation_failed` for what is no picture, `conflict` when the name is
 * taken.
 */
export async function storeAsset (
  { database, workers }: { database: Database, workers: TemplateWorkers },
  by: ChangeContext,
  { name, image }: AssetBody
): Promise<AssetFacts> {
  const picture = await workers.flatten(by.companyId, image)
  if ('fault' in picture) throw refusal('validation_failed', [{ path: '/image', code: 'bad_image', message: picture.fault }])
  const bytes = Buffer.from(picture.uri.slice(picture.uri.indexOf(',') + 1), 'base64').byteLength
  if (bytes > largest) {
    throw refusal('validation_failed', [{
      path: '/image',
      code: 'too_large',
      message: `The picture takes up ${bytes} bytes; it may have ${largest}: make it smaller, or send it as a JPEG.`
    }])
  }
  return addAsset(database, by, { name, bytes, ...picture })
}

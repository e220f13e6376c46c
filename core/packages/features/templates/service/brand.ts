import type { AuditAuthor } from '@dispatch/accounts'
import { refusal } from '@dispatch/contract'
import { createFreshCache, type Database, type Freshness } from '@dispatch/database'
import type { Brand, KeptBrand } from '@dispatch/documents'
import { hash } from 'node:crypto'
import type { OwnDetails } from '../../contacts/contract/contacts.ts'
import type { Contacts } from '../../contacts/service/contacts.ts'
import type { BrandBody, BrandView } from '../contract/brand.ts'
import { readAssets } from '../store/assets.ts'
import { type BrandRow, type BrandVersion, readBrand, readBrandVersion, versionOfBrand, writeBrand } from '../store/brand.ts'
import { lowContrast } from './contrast.ts'

/** How companies look in their documents. */
export type Brands = {
  read: (companyId: number) => Promise<BrandView>
  /** Throws `validation_failed` for a picture that the company does not have, and for colours that nobody can read. */
  write: (author: AuditAuthor, brand: BrandBody) => Promise<BrandView>
  /** The brand of the documents that a company sends now; undefined where it has said nothing of itself. */
  current: (companyId: number) => Promise<BrandVersion | undefined>
  /** That with which a dispatch was accepted. */
  version: (companyId: number, version: number) => Promise<BrandVersion | undefined>
  /** A brand that is not stored. Throws as `write` does. */
  of: (companyId: number, brand: BrandBody) => Promise<KeptBrand>
}

type Parts = { database: Database, freshness: Freshness, details: Contacts['ownSince'], now: () => Date }

/** The weight of brands in the cache: the characters of their logos. */
const heaviest = 20_000_000

/**
 * The brands of companies, read by version and kept in memory. Throws `validation_failed` for a logo that the company does not have, and
 * for colours that cannot be told apart.
 */
export function createBrands ({ database, freshness, details, now }: Parts): Brands {
  const bound = { max: heaviest, weigh: (brand: BrandVersion | undefined) => (brand?.content.logo ?? '').length + 1_000 }
  const cache = createFreshCache<number, BrandVersion | undefined>(freshness, (companyId) => companyId, bound)
  const read = async (companyId: number): Promise<BrandView> => viewOf(await readBrand(database, companyId))

  const current = (companyId: number): Promise<BrandVersion | undefined> =>
    cache.get(companyId, async () => {
      const [row, { details: own, since }] = [await readBrand(database, companyId), await details(companyId)]
      if (row === undefined && own.seller === undefined && own.bankDetails === undefined) return undefined
      const brand = await versionOfBrand(database, { companyId, at: now() }, contentOf(row?.settings ?? {}, row?.uri ?? undefined, own))
      const changes = [row?.updated_at, since].flatMap((at) => at ?? [])
      return { ...brand, ...changes.length > 0 && { inUseSince: changes.reduce((last, one) => one > last ? one : last) } }
    })

  return {
    read,

    async write (author, brand) {
      const { companyId } = author
      await writeBrand(database, { companyId, author, at: now() }, brand, await logoOf(database, companyId, brand))
      return read(companyId)
    },

    current,

    // It is mostly the one in use, which is known.
    async version (companyId, version) {
      const known = await current(companyId)
      return known?.version === version ? known : readBrandVersion(database, companyId, version)
    },

    async of (companyId, brand) {
      const content = contentOf(brand, await logoOf(database, companyId, brand), (await details(companyId)).details)
      return { digest: hash('sha256', JSON.stringify(content)), content }
    }
  }
}

/**
 * The logo that a brand names, as a data URI. A brand keeps the picture with which it was saved: where that is removed, the name goes on
 * meaning it. Throws `validation_failed`.
 */
async function logoOf (database: Database, companyId: number, brand: BrandBody): Promise<string | undefined> {
  const problems = lowContrast(brand)
  const { logo } = brand
  const [asset] = logo === undefined ? [] : await readAssets(database, companyId, [logo])
  const kept = asset !== undefined || logo === undefined ? undefined : await readBrand(database, companyId)
  const uri = asset?.uri ?? (kept?.settings.logo === logo ? kept?.uri ?? undefined : undefined)
  if (logo !== undefined && uri === undefined) {
    const message = `The company has no picture "${logo}": add it with POST /api/v1/assets.`
    problems.push({ path: '/logo', code: 'unknown_asset', message })
  }
  if (problems.length > 0) throw refusal('validation_failed', problems)
  return uri
}

function contentOf ({ logo: _name, ...look }: BrandBody, logo: string | undefined, { seller, bankDetails }: OwnDetails): Brand {
  return {
    ...look,
    ...logo !== undefined && { logo },
    ...seller !== undefined && { seller },
    ...bankDetails !== undefined && { bankDetails }
  }
}

function viewOf (row: BrandRow | undefined): BrandView {
  return { ...row?.settings, updatedAt: row?.updated_at.toISOString() ?? null }
}

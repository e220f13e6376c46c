import { pointer } from '../contract/json.ts'
import type { Fault } from './errors.ts'
import { use, type Path, type Read, type Uses } from './uses.ts'

/** Where in a template something is compiled, and what holds there. */
export type Site = {
  /** JSON pointer into template.yaml. */
  readonly at: string
  /** The variables of the loops around it: what each of them loops over. */
  readonly names: Readonly<Record<string, Path>>
  /** Whether `page` and `pages` stand for the number of the page and of all pages. */
  readonly pageFields: boolean
  /** Levels of blocks around it. */
  readonly depth: number
  readonly uses: Uses
  readonly reads: Read[]
  readonly faults: Fault[]
}

/** The place below, at a key or index of the template. */
export function below (site: Site, ...keys: (string | number)[]): Site {
  return { ...site, at: keys.reduce<string>((path, key) => pointer(path, key), site.at) }
}

/** Notes a fault of the template; compiling goes on, so that all of them are known at once. */
export function fault (site: Site, message: string, code = 'template_error'): void {
  site.faults.push({ path: site.at, code, message })
}

/** Notes that the template reads these fields, and returns their path from the root of the data. */
export function read (site: Site, fields: Path, as: Read['as']): Path {
  const [first = '', ...rest] = fields
  const source = Object.hasOwn(site.names, first) ? site.names[first] : undefined
  const path = source === undefined ? fields : [...source, ...rest]
  use(site.uses, path, as)
  site.reads.push({ path, as, at: site.at })
  return path
}

/**
 * Checks who imports whom, in the tree given as argument or the current one. Type imports count, because they bind files together too.
 * Prints each breach as `file:line imports X: rule` and ends with exit code 1.
 *
 * The tables in `core/guides/folders.md` and `plugins/README.md` say which imports a folder of the core or of the plugins may have. A
 * permission that nothing uses is a breach too.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join } from 'node:path/posix'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import ts from 'typescript'

/** Rules between the parts of the tree. Inside its own part (a package, a provider's folder), a file may import any other file. */
const walls = [
  {
    of: /^core\/(?!packages\/)/,
    refuses: /^(plugins|providers|scripts|test)\/|^@dispatch\/(core|conformance)(\/|$)/,
    rule: 'core knows neither plugins nor providers, nor the kit'
  },
  {
    of: /^core\/packages\/features\//,
    refuses: /^(core\/(?!packages\/features\/)|(plugins|providers|scripts|test)\/)|^@dispatch\/conformance(?!\/smoke$)(\/|$)/,
    rule: 'features know the core, the toolkits of the plugins and packages by their names, of the kit what an installation runs'
  },
  {
    of: /^core\/packages\/features\/[^/]+\/pages\//,
    refuses: /^@dispatch\/(core|accounts|credits|tables)(\/|$)|^core\/packages\/features\/[^/]+\/(service|store|routes)\//,
    rule: 'pages of features reach data through the public API alone'
  },
  {
    of: /^core\/packages\/(?!features\/)/,
    refuses: /^(core|plugins|providers|scripts|test)\/|^@dispatch\/core(\/|$)/,
    rule: 'packages know other packages by their names alone'
  },
  {
    of: /^core\/packages\/sandbox\/inside\//,
    refuses: /^@dispatch\/(?!common$|host\/(process|provider)$)/,
    rule: 'the process of an adapter knows @dispatch/common, @dispatch/host/process and what providers import'
  },
  {
    // The demo catalog asks for the marketplace where there is one.
    of: /^scripts\/(?!demo-catalog\/demo-catalog\.ts$)/,
    refuses: /^core\/packages\/features\//,
    rule: 'programs find features, and name none'
  },
  { of: /^core\/(?!packages\/)|^plugins\//, refuses: /^core\/packages\//, rule: 'packages are reached by their names' },
  { of: /^plugins\//, refuses: /^core\//, rule: 'plugins reach the core through its exports, @dispatch/core' },
  {
    of: /^plugins\//,
    refuses: /^(providers|scripts|test)\/|^@dispatch\/conformance(\/|$)/,
    rule: 'plugins know the core and its packages alone'
  },
  {
    of: /^plugins\/console\/(?!(session|entry)\/)/,
    refuses: /^@dispatch\/(core|accounts|credits|tables)(\/|$)/,
    rule: 'pages of the console reach data through the public API alone'
  },
  // Pure computation only: network, files and processes belong to the host.
  {
    of: /^providers\//,
    refuses: /^(?!@dispatch\/core\/provider$|node:(buffer|crypto|querystring|string_decoder|url|util)$)/,
    rule: 'providers import @dispatch/core/provider alone'
  }
]

/** A package (or a scope) and the only files that may import it. */
const homes: Record<string, RegExp> = {
  // Numbers are read once: everything else gets them from @dispatch/common.
  'decimal.js': /^core\/packages\/common\/money\.ts$/,
  pdfkit: /^core\/packages\/documents\/render\/pdf\.ts$/,
  '@cantoo/pdf-lib': /^core\/packages\/documents\/given\/(address-page|join-pdfs|open-pdf)\.ts$/,
  piscina: /^core\/packages\/documents\//,
  kysely: /^core\/(store|packages\/(accounts\/(store|audit)|credits|database|tables|features\/.+\/(store|migrations)))\//,
  pg: /^core\/(store|packages\/(database|embedded-postgres|tables))\//,
  'rate-limiter-flexible': /^core\/packages\/accounts\/store\/rate-limiter\.ts$/,
  esbuild: /^(core\/packages\/sandbox\/runtime|scripts\/(client\/build|provider\/(kit-)?bundle))\.ts$/,
  '@codemirror': /^plugins\/console\/browser\/script\/editor\//,
  '@lezer': /^plugins\/console\/browser\/script\/editor\//,
  undici: /^core\/packages\/vendor-io\/http\/transport\.ts$/,
  nodemailer: /^core\/packages\/vendor-io\/smtp\/mailer\.ts$/,
  jose: /^core\/packages\/(accounts\/access|host|marketplace|vendor-io)\//,
  'openid-client': /^core\/packages\/vendor-io\/http\/openid\.ts$/,
  'xml-crypto': /^core\/packages\/vendor-io\/peppol\/signature\.ts$/,
  saxes: /^core\/packages\/(vendor-io\/http|einvoice\/parse)\/xml\.ts$/,
  tar: /^core\/packages\/marketplace\//,
  '@aws-sdk': /^core\/packages\/files\/s3\.ts$/,
  'smtp-server': /^core\/packages\/conformance\//,
  selfsigned: /^core\/packages\/conformance\//,
  fastify: /^(plugins|core\/packages\/features\/.+\/(routes|pages|session))\//,
  'fastify-plugin': /^plugins\//,
  // Vendors' events may be forms, whose parts the host reads.
  '@fastify': /^(plugins|core\/packages\/features\/.+\/(routes|pages|session))\/|^core\/packages\/host\/webhook\/body\.ts$/,
  '@opentelemetry': /^plugins\/(traces\/|hooks\/trace-context\.ts$)/,
  'pg-boss': /^core\/packages\/queue\/queue\.ts$/,
  '@modelcontextprotocol': /^core\/packages\/features\/assistants\/service\/protocol\.ts$/,
  '@simplewebauthn': /^core\/packages\/features\/passkeys\/service\/webauthn\.ts$/,
  marked: /^core\/packages\/features\/documentation\/service\/markdown\.ts$/,
  'csv-parse': /^core\/packages\/features\/(batches\/(contract\/csv|service\/read-csv)|suppressions\/service\/files)\.ts$/,
  otpauth: /^core\/packages\/features\/authenticators\/service\/totp\.ts$/,
  qr: /^core\/packages\/(documents\/code|features\/authenticators\/pages)\/qr(-code)?\.ts$/,
  'libphonenumber-js': /^core\/packages\/services\/phone\.ts$/,
  'validator/lib/isEmail.js': /^core\/packages\/common\/mailbox\.ts$/,
  'validator/lib/isPostalCode.js': /^core\/packages\/common\/postal-code\.ts$/,
  tsyringe: /^plugins\/container\.ts$/,
  'reflect-metadata': /^plugins\/container\.ts$/
}

/**
 * Values of requests are parsed once, where they enter; rules, pages, files, XML and providers get what was parsed. `calls` parses such a
 * value, `inside` is where nothing may call it, but for its `home`. A parser that is a package has its place in the table above.
 */
const parsers = [
  {
    value: 'a day',
    calls: /\bDate\.parse\(|\bTemporal\.\w+\.from\(|\bnew Date\((?!\)|Date\.|[\w.()?]*\b(now|time|getTime)\b)/g,
    inside: /^(core\/(pipeline|packages\/(common|documents|einvoice|services))|providers)\//,
    // `formats.ts` checks times of the API; Stripe takes the beginning of a day in a time zone, which is computed of the parsed day.
    home: /^(core\/packages\/common\/(day|formats)|providers\/stripe\/time)\.ts$/
  },
  {
    // At its @, by a pattern or by cutting.
    value: 'a mailbox',
    calls: /\[\^@[^\]]*\]|\b(?:split|indexOf|lastIndexOf)\(['"]@['"]\)/g,
    inside: /^(core\/(pipeline|packages\/(common|documents|einvoice|host|services))|providers)\//,
    // `problems.ts` tells who has written several addresses how a list is written.
    home: /^core\/packages\/common\/(mailbox|problems)\.ts$/
  },
  {
    value: 'the minor unit of a currency',
    calls: /style: 'currency'|\w+FractionDigits\b|\.mul\(100\)/g,
    inside: /^(core\/(pipeline|packages\/(common|einvoice|host|services))|providers)\//,
    home: /^core\/packages\/common\/currencies\.ts$/
  }
]

/**
 * Who opens what is sealed with the master key, each what is its own: everything else asks one of these. `settings.ts` opens the settings
 * of providers, whoever calls a vendor, and `data-keys.ts` the keys of documents and rows, whoever reads one.
 */
export const openers = [
  'core/packages/accounts/access/signing-keys.ts',
  'core/packages/features/alerts/service/messages.ts',
  'core/packages/features/authenticators/service/authenticators.ts',
  'core/packages/features/callbacks/service/signatures.ts',
  'core/packages/features/connections/service/clients.ts',
  'core/packages/features/connections/service/sealing.ts',
  'core/packages/features/privacy/service/work.ts',
  'core/packages/features/single-sign-on/service/signing-on.ts',
  'core/packages/features/vendor-events/service/webhook-receiver.ts',
  'core/packages/host/settings/settings.ts',
  'core/packages/tables/sealing/data-keys.ts',
  'core/pipeline/run/outcome-spool.ts'
]

/**
 * Services are folders, and every list of them is derived from one: what names one elsewhere would be forgotten when another is added. Some
 * are called by words that mean other things, too; such a word names a service in a list of services, or where it is compared with one.
 */
const everyday = ['email', 'file', 'upload']
/** Formats of documents are folders here, and every list of them is derived from one too. */
const formatsFolder = 'core/packages/documents/formats/'

/** What is about certain services: providers of them, requests for pictures, and this. */
const namesServices = /^(providers\/|scripts\/(console-pictures|check-walls)\.ts$)/

const folders = '{core,plugins,providers,scripts}/**/*.{ts,mts,js,mjs}'
/** Benchmarks measure the libraries themselves, and tests use the internals of what they test. */
const outside = /(^|\/)node_modules\/|^scripts\/bench\/|^core\/packages\/([^/]+|features\/[^/]+)\/test\//

/** `target` is a path from the root for a file of the tree, else the imported name (`node:` before a builtin). */
type Import = { file: string, line: number, name: string, target: string }
type Breach = [Import, string]

function importsOf (root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName: name, pos }) => ({
    file,
    line: text.slice(0, pos).split('\n').length,
    name,
    target: targetOf(file, name)
  }))
}

function targetOf (file: string, name: string): string {
  if (name.startsWith('.')) return join(dirname(file), name)
  return isBuiltin(name) && !name.startsWith('node:') ? `node:${name}` : name
}

function rulesBroken ({ file, target }: Import): string[] {
  const crossed = partOf(file) === partOf(target) ? [] : walls.filter(wall => wall.of.test(file) && wall.refuses.test(target))
  const astray = Object.entries(homes).filter(([name, home]) => (target === name || target.startsWith(`${name}/`)) && !home.test(file))
  return [
    ...crossed.map(({ rule }) => rule),
    ...astray.map(([name, home]) => `${name} belongs to ${home.source.replaceAll(/[\\^$]/g, '')}`)
  ]
}

/** Where a file parses a value that was parsed before it. */
function parsedAgain (root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return parsers.filter(({ inside, home }) => inside.test(file) && !home.test(file)).flatMap(({ value, calls, home }) =>
    [...text.matchAll(calls)].map(({ index, 0: call }) =>
      `${file}:${text.slice(0, index).split('\n').length} calls ${call}: ${value} is parsed once, in ${
        home.source.replaceAll(/[\\^$]/g, '')
      }`
    )
  )
}

/** Where a file opens what is sealed, and is not to; or is to, and does not. */
function openedAstray (root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const opened = [...text.matchAll(/\bkeyring\.open\(/g)]
  if (openers.includes(file)) return opened.length > 0 ? [] : [`${file} opens nothing that is sealed: it need not be among the openers`]
  return opened.map(({ index }) =>
    `${file}:${text.slice(0, index).split('\n').length} opens what is sealed: only the files among the openers of check-walls.ts do`
  )
}

/** Where a file names a service that is not its own. */
function servicesNamed (root: string, file: string, services: readonly string[]): string[] {
  if (namesServices.test(file)) return []
  const names = services.filter((name) => !file.startsWith(`core/packages/services/${name}/`))
  return wordsIn(root, file)
    .filter(({ node, name }) => names.includes(name) && (!everyday.includes(name) || isOfService(node, services)))
    .map(({ name, line }) =>
      `${file}:${line} names the service "${name}": lists of services are derived from core/packages/services/all.ts`
    )
}

/** Where a file names a format of documents, as the API does. A vendor takes certain ones; an e-invoice has a syntax of the same name. */
function formatsNamed (root: string, file: string, formats: readonly string[]): string[] {
  if (/^(providers|scripts|core\/packages\/einvoice)\//.test(file) || file.startsWith(formatsFolder)) return []
  return wordsIn(root, file)
    .filter(({ name }) => formats.includes(name))
    .map(({ name, line }) => `${file}:${line} names the format "${name}": lists of formats are derived from ${formatsFolder}all.ts`)
}

/** The texts of a file, and its fields that are written as texts. */
function wordsIn (root: string, file: string): { node: ts.Node, name: string, line: number }[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true)
  const found: { node: ts.Node, name: string, line: number }[] = []
  const visit = (node: ts.Node): void => {
    const name = nameIn(node)
    if (name !== undefined) found.push({ node, name, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1 })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** The word of a text, or of a field that is written as one. */
function nameIn (node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text
  const isField = ts.isPropertyAssignment(node) || ts.isPropertySignature(node)
  return isField && ts.isIdentifier(node.name) ? node.name.text : undefined
}

/** Whether an everyday word stands beside the name of a service, or is compared with one. */
function isOfService (node: ts.Node, services: readonly string[]): boolean {
  const around = ts.isLiteralTypeNode(node.parent) ? node.parent.parent : node.parent
  if (ts.isBinaryExpression(around)) return [around.left, around.right].some((side) => /(^|\.)service$/i.test(side.getText()))
  if (ts.isElementAccessExpression(around)) return /(^|\.)services$/i.test(around.expression.getText())
  const list = ts.isArrayLiteralExpression(around) ? around.elements : ts.isUnionTypeNode(around) ? around.types : []
  return list.length > 1 && list.every((one) => services.includes(nameIn(ts.isLiteralTypeNode(one) ? one.literal : one) ?? ''))
}

/** A part of the tree, with rules for its imports. */
function partOf (path: string): string | undefined {
  return /^(core\/packages\/features\/[^/]+\/pages|core\/packages\/features\/[^/]+|core\/packages\/[^/]+|core|plugins|scripts|providers\/[^/]+)\//
    .exec(path)?.[1]
}

/** The imports that close a cycle of files, each with the cycle. */
function circles (imports: Import[], exported: Record<string, string>): Breach[] {
  const importsByFile = Map.groupBy(imports, ({ file }) => file)
  const done = new Set<string>()
  const found: Breach[] = []
  const visit = (file: string, path: string[]) => {
    for (const made of importsByFile.get(file) ?? []) {
      const next = exported[made.target] ?? made.target
      const way = [...path, file]
      if (way.includes(next)) found.push([made, `no circles (${[...way.slice(way.indexOf(next)), next].join(' → ')})`])
      else if (!done.has(next)) visit(next, way)
    }
    done.add(file)
  }
  for (const file of importsByFile.keys()) if (!done.has(file)) visit(file, [])
  return found
}

/** The exports of the workspaces: the name to import, and the file behind it. */
function exportsOf (root: string): Record<string, string> {
  const manifests = globSync('{core,core/packages/*,plugins}/package.json', { cwd: root })
  return Object.fromEntries(manifests.flatMap(path => {
    const { name = '@dispatch/core', exports } = Value.Parse(Manifest, JSON.parse(readFileSync(join(root, path), 'utf8')))
    return Object.entries(exports).map(([way, file]) => [join(name, way), join(dirname(path), file)])
  }))
}
const Manifest = Type.Object({ name: Type.Optional(Type.String()), exports: Type.Record(Type.String(), Type.String()) })

/** A page with a table of folders: each row names a folder, and the folders and packages that it may import. */
type Page = { path: string, text: string, allowed: Map<string, Set<string>> }

function readPage (root: string, path: string): Page | undefined {
  if (!existsSync(join(root, path))) return undefined
  const text = readFileSync(join(root, path), 'utf8')
  const rows = [...text.matchAll(/^\| `((?:core|plugins)\/[^`]+)` \|[^|]*\|([^|]*)\|$/gm)]
  return {
    path,
    text,
    allowed: new Map(
      rows.map(([, folder = '', list = '']) => [folder, new Set([...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))])
    )
  }
}

/** The folder of a page for a file; undefined for the files above the folders, which put them together. */
function folderOf (path: string, exported: Record<string, string>): string | undefined {
  return /^(core\/packages\/[^/]+|(?:core|plugins)\/[^/]+)\//.exec(exported[path] ?? path)?.[1]
}

/** Checks between folders: imports that the page does not permit, unused permissions, and cycles. */
function foldersBroken (imports: Import[], page: Page, exported: Record<string, string>): string[] {
  const used = new Map<string, Map<string, Import>>()
  for (const made of imports) {
    const [from, to] = [folderOf(made.file, exported), folderOf(made.target, exported)]
    if (from === undefined || to === undefined || from === to || !page.allowed.has(from)) continue
    const targets = used.get(from) ?? new Map<string, Import>()
    used.set(from, targets.set(to, targets.get(to) ?? made))
  }
  const shown = (name: string): string => name.replace(/^core\/packages\//, '@dispatch/')
  return [...page.allowed].flatMap(([folder, allowed]) => {
    const targets = used.get(folder) ?? new Map<string, Import>()
    const refused = [...targets].filter(([to]) => !allowed.has(shown(to))).map(([to, { file, line, name }]) =>
      `${file}:${line} imports ${name}: ${page.path} does not let ${shown(folder)} know ${shown(to)}`
    )
    const vain = [...allowed].filter(name => ![...targets.keys()].some(to => shown(to) === name)).map(name =>
      `${page.path} lets ${shown(folder)} know ${name}, which it does not use`
    )
    return [...refused, ...vain]
  })
}

/** A cycle from a folder back to itself along the permissions of the pages. */
function foldersRound (pages: Page[]): string[] {
  return roundTrips(
    new Map(pages.flatMap(page => [...page.allowed]).map(([folder, to]) => [folder.replace(/^core\/packages\//, '@dispatch/'), to]))
  )
}

/** A folder inside of a part of the tree; undefined for the files above such folders, which put them together. */
function subfolderOf (path: string): string | undefined {
  return /^(core\/packages\/features\/[^/]+|core\/packages\/[^/]+|(?:core|plugins)\/[^/]+)\/[^/]+(?=\/)/.exec(path)?.[0]
}

/** Cycles between the folders inside of one part. */
function subfoldersRound (imports: Import[]): string[] {
  const next = new Map<string, Set<string>>()
  for (const { file, target } of imports) {
    const [from, to] = [subfolderOf(file), subfolderOf(target)]
    if (from === undefined || to === undefined || from === to || dirname(from) !== dirname(to)) continue
    next.set(from, (next.get(from) ?? new Set()).add(to))
  }
  return roundTrips(next)
}

/** Ways from a folder back to itself. */
function roundTrips (allowed: Map<string, Set<string>>): string[] {
  const done = new Set<string>()
  const visit = (folder: string, path: string[]): string[] => {
    if (path.includes(folder)) return [`folders in a circle: ${[...path.slice(path.indexOf(folder)), folder].join(' → ')}`]
    if (done.has(folder)) return []
    const found = [...allowed.get(folder) ?? []].flatMap(to => visit(to, [...path, folder]))
    done.add(folder)
    return found
  }
  return [...allowed.keys()].flatMap(folder => visit(folder, []))
}

/** Names on a page that do not exist: a rule, an imported package with a home of its own, a folder. */
function unnamed (root: string, imports: Import[], pages: Page[]): string[] {
  const [core] = pages
  if (core === undefined) return []
  const packages = Object.keys(homes).filter(name => imports.some(({ target }) => target === name || target.startsWith(`${name}/`)))
  const said = [...walls.map(({ rule }) => rule), ...packages.map(name => `\`${name}\``)].filter(words => !core.text.includes(words))
  const parts = globSync('{core/*/,core/packages/*/,plugins/*/}', { cwd: root, exclude: ['**/node_modules'] }).map(folder =>
    folder.replace(/\/$/, '')
  ).filter(folder => !['core/guides', 'core/packages', 'core/packages/features', 'plugins/guides'].includes(folder))
  return [...said, ...parts.filter(folder => !pages.some(page => page.allowed.has(folder))).map(folder => `\`${folder}\``)]
}

/** Checks the tree at `root`: how many files it has, and each breach as a line. */
export function checkWalls (root: string): { files: number, faults: string[] } {
  const files = globSync(folders, { cwd: root, exclude: ['**/node_modules'] }).filter(file => !outside.test(file)).sort()
  const imports = files.flatMap(file => importsOf(root, file))
  const exported = exportsOf(root)
  const pages = ['core/guides/folders.md', 'plugins/README.md'].flatMap(path => readPage(root, path) ?? [])
  const breaches = [...imports.flatMap(made => rulesBroken(made).map((rule): Breach => [made, rule])), ...circles(imports, exported)]
  const formats = globSync(`${formatsFolder}*/index.ts`, { cwd: root }).map((path) => basename(dirname(path)).toUpperCase())
  const services = globSync('core/packages/services/*/index.ts', { cwd: root }).map((path) => path.split('/')[3] ?? '')
  return {
    files: files.length,
    faults: [
      ...breaches.map(([{ file, line, name }, rule]) => `${file}:${line} imports ${name}: ${rule}`),
      ...pages.flatMap(page => foldersBroken(imports, page, exported)),
      ...foldersRound(pages),
      ...subfoldersRound(imports),
      ...files.flatMap(file => parsedAgain(root, file)),
      ...files.flatMap(file => openedAstray(root, file)),
      ...files.flatMap(file => servicesNamed(root, file, services)),
      ...files.flatMap(file => formatsNamed(root, file, formats)),
      ...unnamed(root, imports, pages).map(words => `no page names ${words}`)
    ]
  }
}

if (import.meta.main) {
  const { files, faults } = checkWalls(process.argv[2] ?? '.')
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
  else console.log(`${files} files keep the walls`)
}

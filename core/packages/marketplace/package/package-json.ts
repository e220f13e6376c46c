import { compile } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { readJson } from '../json.ts'
import { MarketplaceRefusal } from '../refusal.ts'
import type { PackageManifest } from './manifest.ts'

/** The name of the package that every adapter imports, and the only one that it may name. */
const sdkName = '@dispatch/core'
const entry = './index.js'

/** The fields of a `package.json` that matter. What else it says is of no effect here. */
const PackageJson = Type.Object({
  name: Type.String(),
  version: Type.String(),
  publisher: Type.String(),
  license: Type.String(),
  type: Type.Literal('module'),
  exports: Type.Literal(entry),
  peerDependencies: Type.Record(Type.String(), Type.String()),
  scripts: Type.Optional(Type.Unknown())
})
type PackageJson = Static<typeof PackageJson>

const check = compile(PackageJson)
const bringing = ['dependencies', 'devDependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies']

/** The `package.json` that belongs to a manifest. */
export function packageJsonOf ({ package: name, publisher, sdk, licence, provider: { version } }: PackageManifest): object {
  return {
    name,
    version,
    publisher,
    license: licence,
    type: 'module',
    exports: entry,
    peerDependencies: { [sdkName]: sdk }
  }
}

/** Throws a {@link MarketplaceRefusal} where a `package.json` would do more than name the entry, or contradicts the manifest. */
export function checkPackageJson (text: string, manifest: PackageManifest): void {
  const json = readJson(text, check, { what: 'package.json', code: 'manifest_invalid' })
  if (json.scripts !== undefined) {
    throw new MarketplaceRefusal('install_scripts', 'package.json has scripts. Nothing runs at an installation: leave "scripts" out.')
  }
  const brought = bringing.find((field) => Object.hasOwn(json, field))
  if (brought !== undefined) {
    throw new MarketplaceRefusal('dependencies', `package.json has "${brought}". Leave it out: all code is bundled into index.js.`)
  }
  const other = Object.keys(json.peerDependencies).find((name) => name !== sdkName)
  if (other !== undefined) {
    throw new MarketplaceRefusal('dependencies', `package.json needs "${other}". Its "peerDependencies" may name ${sdkName} alone.`)
  }
  checkAgreement(json, manifest)
}

function checkAgreement (json: PackageJson, manifest: PackageManifest): void {
  const pairs = [
    ['name', json.name, manifest.package],
    ['version', json.version, manifest.provider.version],
    ['publisher', json.publisher, manifest.publisher],
    ['license', json.license, manifest.licence],
    [`peerDependencies/${sdkName}`, json.peerDependencies[sdkName], manifest.sdk]
  ] as const
  for (const [field, said, known] of pairs) {
    if (said === known) continue
    throw new MarketplaceRefusal('manifest_mismatch',
      `package.json and manifest.json must agree: "${field}" is ${JSON.stringify(said)} in the one and ${
        JSON.stringify(known)
      } in the other.`)
  }
}

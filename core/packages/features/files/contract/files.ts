import { Uuid } from '@dispatch/common'
import { Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

/** The largest file in bytes. */
export const largestFile = 50 * 1024 * 1024

/** The most files of a company. */
export const maxFiles = 10_000

/** The query of an upload whose body is the file itself. */
export const UploadQuery = Type.Object({
  filename: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 150,
      examples: ['terms.pdf'],
      description: 'The name of a file that is the body itself; that of a form stands in its part.'
    })
  )
}, { additionalProperties: false })
export type UploadQuery = Static<typeof UploadQuery>

/** The form of a file, as it is documented. */
export const FileForm = Type.Object({ file: Type.String({ format: 'binary' }) }, { title: 'UploadedFileForm' })

export const FileView = Type.Object({
  id: Type.Unsafe<string>({ ...Uuid, description: 'What a dispatch names it by: `fileId`.' }),
  filename: Type.String(),
  contentType: Type.String({ description: 'Found from its bytes; a plain text is what the client said.' }),
  size: Type.Integer({ minimum: 0, description: 'In bytes.' }),
  sha256: Type.String({ description: 'In lowercase hexadecimal.' }),
  userId: Type.Integer({ description: 'Who uploaded it.' }),
  createdAt: Timestamp,
  expiresAt: Type.Unsafe<string>({
    ...Timestamp,
    description:
      'Until when it is kept: 24 hours; once a dispatch uses it, until 30 days after that is sent. What waits and names it, such as ' +
      'a draft or a batch, keeps it for as long: then this time moves on.'
  }),
  waiting: Type.Optional(Type.Integer({
    minimum: 0,
    description: 'With `?waiting=true`: by how many that wait it is named, of 10,000 of each kind.'
  }))
}, {
  title: 'UploadedFile'
})
export type FileView = Static<typeof FileView>

/** The query of one file. */
export const FileQuery = Type.Object({
  waiting: Type.Optional(Type.Boolean({ description: 'Counts what names it.' }))
}, { additionalProperties: false })
export type FileQuery = Static<typeof FileQuery>

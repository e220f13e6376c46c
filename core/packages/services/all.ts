import { email } from './email/index.ts'
import { esign } from './esign/index.ts'
import { file } from './file/index.ts'
import { invoicing } from './invoicing/index.ts'
import { postal } from './postal/index.ts'
import { sms } from './sms/index.ts'
import { upload } from './upload/index.ts'

/** The one list of services, in the order of every list. Each is a folder beside this file; all else is derived. */
export const all = { invoicing, esign, postal, sms, email, file, upload }

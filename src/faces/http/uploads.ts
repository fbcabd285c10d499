// Operations that take a file: beside JSON they read forms, which nobody else does.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Gates } from '../../gates/gates.ts'
import type { Operation, Upload } from '../../kernel/operation.ts'
import { malformedRequest, missingParameter, payloadTooLarge } from '../../kernel/refusals.ts'
import { storable } from '../../kernel/v3/lenient.ts'
import { routeFor } from './routes.ts'

export async function bindUploads(
  app: FastifyInstance,
  gates: Gates,
  operations: Operation[],
): Promise<void> {
  const { default: multipart } = await import('@fastify/multipart')
  await app.register(async (scope) => {
    await scope.register(multipart)
    for (const op of operations)
      if (op.upload) scope.route({ ...routeFor(gates, op), preValidation: reader(op.upload) })
  })
}

const reader = (upload: Upload) => async (request: FastifyRequest) => {
  if (!request.isMultipart()) return
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > upload.maxBytes + roomForRest) throw tooLarge(upload)
  try {
    request.body = await readForm(request, upload)
  } catch (error) {
    throw refusalOf(error as Error & { code?: string }, upload)
  }
  if (!Object.hasOwn(request.body as object, upload.content))
    throw missingParameter({
      message: `The form has no file in the field ${upload.field}.`,
      param: upload.field,
    })
}

const roomForRest = 64 * 1024
const limits = { files: 1, fields: 10, parts: 11, fieldSize: 4_096, fieldNameSize: 100, headerPairs: 20 }

/** Gives the same body as JSON would have. */
async function readForm(request: FastifyRequest, upload: Upload): Promise<Record<string, string>> {
  const body: Record<string, string> = {}
  let filename: string | undefined
  for await (const part of request.parts({ limits: { ...limits, fileSize: upload.maxBytes } })) {
    if (part.type === 'field') body[storable(part.fieldname)] = storable(String(part.value))
    else {
      const content = await part.toBuffer()
      if (part.fieldname !== upload.field) continue
      filename = part.filename
      body[upload.content] = content.toString('base64')
    }
  }
  if (filename !== undefined) body[upload.name] ??= storable(filename)
  return body
}

/** Whatever goes wrong with a form is the sender's doing. */
function refusalOf({ code, message }: Error & { code?: string }, upload: Upload) {
  if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge(upload)
  if (code === 'FST_FILES_LIMIT') return malformedRequest({ message: 'The form has more than one file.' })
  return malformedRequest({ message: `The form could not be read: ${message}` })
}

const tooLarge = ({ maxBytes, field }: Upload) =>
  payloadTooLarge({
    message: `The file is larger than ${Math.round(maxBytes / 1024 ** 2)} MB.`,
    param: field,
    // What else is on its way is not waited for.
    headers: { connection: 'close' },
  })

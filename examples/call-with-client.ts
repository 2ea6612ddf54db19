import { createClient, type CreatePlantError } from '@plantstore/client';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;

const client = createClient({ baseUrl: PLANTSTORE_URL, token: PLANTSTORE_TOKEN });

const explain = (error: CreatePlantError): string => {
  switch (error.kind) {
    case 'refused':
      return error.name === 'id-taken' ? 'choose another id' : `refused: ${error.message}`;
    case 'request-invalid':
      return `nothing was sent: ${error.message}`;
    case 'response-invalid':
      return `is this a plant store? ${error.message}`;
    case 'token-failed':
    case 'unexpected-status':
    case 'network':
    case 'timeout':
    case 'aborted':
      return `${error.message}; creating the same plant again is safe`;
  }
};

const created = await client.createPlant({ id: 9007199254740995n, name: 'Monstera' });
console.log(created.match((plant) => `created ${plant.name}`, explain));

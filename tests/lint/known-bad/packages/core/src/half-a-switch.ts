// expected: typescript/switch-exhaustiveness-check
type Kind = 'plant-invalid' | 'id-taken';

export const say = (kind: Kind): string => {
  switch (kind) {
    case 'id-taken':
      return 'taken';
  }
  return '';
};

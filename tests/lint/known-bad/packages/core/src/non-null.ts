// expected: typescript/no-non-null-assertion
export const length = (text: string | undefined): number => text!.length;

// Nest on its default platform (Express), with a guard for the bearer token and its ValidationPipe
// (class-validator). Its decorators need a compiler: `pnpm bench` builds this file.
import 'reflect-metadata';
import {
  BadRequestException,
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  Inject,
  Injectable,
  Module,
  Post,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsInt, IsOptional, IsString } from 'class-validator';
// @ts-ignore -- plain JavaScript, for every peer
import { idTaken, openStore } from '../../store.mjs';

class NewPlant {
  @IsInt()
  id!: number;

  @IsString()
  name!: string;

  @IsOptional()
  @IsString()
  tag?: string;
}

type Store = (plant: NewPlant) => boolean | Promise<boolean>;

@Injectable()
class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    const [type, token] = request.headers.authorization?.split(' ') ?? [];
    if (type !== 'Bearer' || token !== process.env['TOKEN']) throw new UnauthorizedException();
    return true;
  }
}

@Controller('plants')
@UseGuards(AuthGuard)
class PlantsController {
  constructor(@Inject('STORE') private readonly store: Store) {}

  @Post()
  @HttpCode(200)
  async create(@Body() plant: NewPlant) {
    if (!(await this.store(plant))) throw new BadRequestException(idTaken);
    return { name: plant.name, tag: plant.tag };
  }
}

@Module({
  controllers: [PlantsController],
  providers: [{ provide: 'STORE', useFactory: async () => openStore(process.argv[2]) }],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
app.useGlobalPipes(new ValidationPipe());
await app.listen(Number(process.env['PORT']), '127.0.0.1');

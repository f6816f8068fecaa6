"""The eight stages of every agent, a room each: observe, rank, recall, simplify, compose, plan, imagine, act.

A file holds a kind of its stage or what several kinds share. Core: no Django. May import encoders, llm, weblinx,
prompts, recipes and the words of `agents/types.py`.
"""
